"""What a reader sees of HTML, piece by piece as it arrives: no tags, comments, scripts or styles.

A lenient scanner and no browser. What is no tag by its spelling, such as `a < b`, is text.
"""

import html
import re
from typing import Final

# Names longer than any of HTML's are cut off: the rest of them reads as an attribute.
_TAG: Final = re.compile(r"<(!--|[!?]|/?[a-zA-Z][^\s/>]{0,31})")
_MAY_BEGIN: Final = re.compile(r"(?:<(?:!-?|/)?|&#?[0-9a-zA-Z]{0,32})\Z")
_LONGEST_BEGINNING: Final = 34
_TAG_MARK: Final = re.compile("[>\"']")
_SILENT: Final = ("script", "style", "template", "title")
_ENDS: Final = {
    "!--": re.compile("-->"),
    "!": re.compile(">"),
    "?": re.compile(">"),
    **{name: re.compile(f"</{name}", re.IGNORECASE) for name in _SILENT},
}
_PARAGRAPHS: Final = frozenset(
    {"address", "article", "aside", "blockquote", "div", "dl", "figure", "footer", "form"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "nav", "ol", "p", "pre"}
    | {"section", "table", "ul"}
)
_LINES: Final = frozenset({"br", "dd", "dt", "figcaption", "li", "option", "tr"})
_CELLS: Final = frozenset({"td", "th"})
_BLANKS: Final = re.compile(r"[ \t\n\r\f]+")
_BREAKS: Final = re.compile(r" ?\n[ \n]*")


def strip_html(text: str) -> str:
    """All that a reader sees of a whole text, its runs of blanks and breaks as one each."""
    reader = HtmlText()
    seen = reader.feed(text) + reader.finish()
    return _BREAKS.sub(lambda run: "\n\n" if "\n\n" in run[0] else "\n", seen)


class HtmlText:
    """The state of one text. The same text comes out however the pieces are cut, but for blanks.

    A tag or comment that never ends hides what follows it, as it does in a browser.
    """

    def __init__(self) -> None:
        self._held = ""
        self._tag = ""  # the tag in hand, with its slash
        self._quote = ""  # the quotation mark around the attribute in hand
        self._silent = ""  # the comment or element in hand of which nothing is seen

    def feed(self, piece: str) -> str:
        """Take the next piece; return the text that is certain by now."""
        return self._read(self._held + piece, is_last=False)

    def finish(self) -> str:
        return self._read(self._held, is_last=True)

    def _read(self, text: str, *, is_last: bool) -> str:
        self._held = ""
        out: list[str] = []
        at = 0
        while at < len(text):
            if self._silent:
                at = self._pass_silent(text, at)
            elif self._tag:
                at = self._pass_attributes(text, at)
            else:
                at = self._take_text(text, at, out, is_last=is_last)
        return "".join(out)

    def _take_text(self, text: str, at: int, out: list[str], *, is_last: bool) -> int:
        """Take text up to the next tag, and the name of that."""
        tag = _TAG.search(text, at)
        is_cut = tag is not None and (tag.end() == len(text) or text.endswith("<!-", tag.start()))
        if not is_last and (tag is None or is_cut):
            end = tag.start() if tag else _certain_end(text, at)
            self._held = text[end:]
            out.append(_plain(text[at:end]))
            return len(text)
        out.append(_plain(text[at : tag.start() if tag else len(text)]))
        if tag is None:
            return len(text)
        name = tag[1].lower()
        out.append(_gap(name))
        if name in ("!--", "!", "?"):
            self._silent = name
        else:
            self._tag = name
        return tag.end()

    def _pass_attributes(self, text: str, at: int) -> int:
        """Go on behind the tag in hand; a `>` in quotation marks does not end it."""
        if self._quote:
            closed = text.find(self._quote, at)
            self._quote = "" if closed >= 0 else self._quote
            return closed + 1 if closed >= 0 else len(text)
        mark = _TAG_MARK.search(text, at)
        if mark is None:
            return len(text)
        if mark[0] == ">":
            self._silent = self._tag if self._tag in _SILENT else ""
            self._tag = ""
        else:
            self._quote = mark[0]
        return mark.end()

    def _pass_silent(self, text: str, at: int) -> int:
        ended = _ENDS[self._silent].search(text, at)
        if ended is None:
            self._held = text[max(at, len(text) - _LONGEST_BEGINNING) :]
            return len(text)
        self._tag = f"/{self._silent}" if self._silent in _SILENT else ""
        self._silent = ""
        return ended.end()


def _plain(text: str) -> str:
    """Text between tags, where a line end is a blank like any other."""
    return html.unescape(_BLANKS.sub(" ", text))


def _gap(name: str) -> str:
    """What a tag puts between the texts on its two sides."""
    bare = name.removeprefix("/")
    if bare in _PARAGRAPHS:
        return "\n\n"
    if bare in _LINES:
        return "\n"
    return " " if name in _CELLS else ""


def _certain_end(text: str, at: int) -> int:
    """Where the part begins that may turn out to be a tag or a character reference."""
    beginning = _MAY_BEGIN.search(text, max(at, len(text) - _LONGEST_BEGINNING))
    return beginning.start() if beginning else len(text)
