"""Ends a text at its last sentence that fits, and never inside a link, code or a character."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from proxy.gates.code_mask import CODE, CodeMask
from proxy.gates.text_markdown import MarkdownText
from proxy.gates.text_units import TextMeter, whole

_FULL_STOPS: Final = ".!?\u2026\u3002\uff01\uff1f"
_CLOSING: Final = "\"')\\]\u00ab\u00bb\u2039\u203a\u201c\u201d\u2018\u2019\u300d\u300f*_"
_SENTENCE_END: Final = re.compile(f"[{_FULL_STOPS}][{_CLOSING}]*\\Z")
_TAG: Final = re.compile(r"<[A-Za-z/!?]")
_MOST_LOOKED_AT: Final = 40
_AROUND: Final = 64

Holds = Callable[[str], bool]


class SentenceTrimmer:
    """Trims plain text and Markdown; a text with HTML, or with half a character in it, is left."""

    def __init__(self, meter: TextMeter) -> None:
        self._meter = meter
        self._markdown = MarkdownText()

    def trim(self, text: str, is_short: Holds, is_right: Holds) -> str | None:
        """The longest beginning that is right and ends with a sentence; None where there is none.

        `is_short` holds for every beginning of a text for which it holds. `is_right` decides.
        """
        if whole(text) != text:
            return None
        ends = [end for end in self._meter.sentences.ends(text) if _ends_sentence(text, end)]
        if not ends:
            return None
        fitting = _count_fitting(text, ends, is_short)
        seen = _words(self._markdown.strip(text))
        for end in reversed(ends[max(0, fitting - _MOST_LOOKED_AT) : fitting]):
            beginning = text[:end].rstrip()
            if is_right(beginning) and self._is_whole(text, beginning, seen):
                return beginning
        return None

    def _is_whole(self, text: str, beginning: str, seen: str) -> bool:
        """Whether a reader sees the same as at the beginning of the whole text: nothing is torn."""
        last_line = beginning[beginning.rfind("\n") + 1 :]
        if _TAG.search(beginning) or last_line.lstrip().startswith("|"):
            return False
        if _ends_in_code(beginning) or not self._parts_characters(text, len(beginning)):
            return False
        return seen.startswith(_words(self._markdown.strip(beginning)))

    def _parts_characters(self, text: str, end: int) -> bool:
        before, after = text[max(0, end - _AROUND) : end], text[end : end + 1]
        whole_count = len(self._meter.clusters(before + after))
        return not after or whole_count > len(self._meter.clusters(before))


def _count_fitting(text: str, ends: Sequence[int], is_short: Holds) -> int:
    """How many of the beginnings are short enough; looks no further than twice the last of them."""
    bound = 1
    while bound < len(ends) and is_short(text[: ends[bound - 1]]):
        bound *= 2
    bound = min(bound, len(ends))
    return bisect_right(ends, 0, hi=bound, key=lambda end: not is_short(text[:end]))


def _ends_sentence(text: str, end: int) -> bool:
    return _SENTENCE_END.search(text[max(0, end - _AROUND) : end].rstrip()) is not None


def _ends_in_code(text: str) -> bool:
    mask = CodeMask()
    return (mask.feed(text) + mask.finish()).endswith(CODE)


def _words(text: str) -> str:
    return " ".join(text.split())
