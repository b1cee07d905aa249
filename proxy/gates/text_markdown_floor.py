"""What a reader will certainly see of Markdown that is still arriving, and never more than that.

Only the whole text tells what is a link, an image, a table or HTML. So what stands behind the
first sign of one does not count until its paragraph is over; behind a tag nothing counts any more.
"""

import re
from typing import Final

_LONGEST_WORD: Final = 1024
_MARKS: Final = re.compile(r"&#?\w{1,40};?|[*_~`\\#>+=:-]")
_BEGINS_LINE: Final = re.compile(r"(?:[>*+#=~`-]|\d{1,9}[.)])+")
_DOUBT: Final = re.compile(r"[\[|]|<(?=[A-Za-z/!?])")
_WORD_OR_LINE_END: Final = re.compile(r"\n|[^\S\n]+|\S+")
_FENCES: Final = ("```", "~~~")


class MarkdownFloor:
    """The state of one text."""

    def __init__(self) -> None:
        self._held = ""
        self._begins_line = True
        self._is_blank_line = True
        self._skips_line = False
        self._in_doubt = False
        self._is_over = False

    def feed(self, piece: str) -> str:
        """Take the next piece; return the words that are certain by now, each with a blank."""
        if self._is_over:
            return ""
        text = self._held + piece
        cut = len(text) - len(text.rsplit(maxsplit=1)[-1]) if text.strip() else 0
        cut = len(text) if text[-1:].isspace() else cut
        self._held = text[cut:]
        seen = [self._take(part) for part in _WORD_OR_LINE_END.findall(text[:cut])]
        if len(self._held) > _LONGEST_WORD:
            self._is_over = True
        return "".join(f"{word} " for word in seen if word)

    def _take(self, part: str) -> str:
        if part == "\n":
            self._in_doubt = self._in_doubt and not self._is_blank_line
            self._begins_line = self._is_blank_line = True
            self._skips_line = False
            return ""
        if part.isspace() or self._is_over:
            return ""
        self._is_blank_line = False
        if self._begins_line:
            self._skips_line |= part.lstrip(">").startswith(_FENCES)
            if _BEGINS_LINE.fullmatch(part):
                return ""
            self._begins_line = False
        if self._in_doubt or self._skips_line:
            return ""
        return self._certain(part)

    def _certain(self, word: str) -> str:
        doubt = _DOUBT.search(word)
        if doubt is not None:
            self._in_doubt = True
            self._is_over = doubt[0] == "<"
            word = word[: doubt.start()]
        return _MARKS.sub("", word)
