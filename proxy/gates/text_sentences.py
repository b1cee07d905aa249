"""Cuts a text into sentences; knows the abbreviations of German and English, and CJK full stops."""

import itertools
import re
from collections.abc import Iterator
from typing import Final

_LANGUAGES: Final = ("de", "en")
# The splitter looks for the end of every quotation that begins: quadratic where many never end.
_WINDOW: Final = 4096
_ORDINAL: Final = re.compile(r"(?:^|[^\w.])\d{1,2}\.\s*\Z")
_MONTH: Final = re.compile(
    r"(?:Jan|Feb|Febr|März|Mrz|Apr|Mai|Juni?|Juli?|Aug|Sept?|Okt|Nov|Dez)[.a-zä]*\b"
)
_HAS_WORD: Final = re.compile(r"\w")


class SentenceSplitter:
    """Cuts where both the German and the English rules do, so that either's abbreviations hold."""

    def __init__(self) -> None:
        from sentencex import segment  # noqa: PLC0415 - only for policies that count sentences

        self._segment = segment

    def count(self, text: str) -> int:
        """Sentences with a letter or digit in them."""
        ends = [0, *self.ends(text)]
        return sum(_HAS_WORD.search(text, *pair) is not None for pair in itertools.pairwise(ends))

    def ends(self, text: str) -> Iterator[int]:
        """Where each sentence ends, the blanks behind it included; the last is the text's end."""
        begin = end = 0
        while begin < len(text):
            window = text[begin : begin + _WINDOW]
            is_last = begin + _WINDOW >= len(text)
            cuts = self._cuts(window)
            usable = cuts if is_last else cuts[:-1]
            for cut in usable:
                end = begin + cut
                yield end
            # A sentence longer than the window is passed over, and ends where one ends at last.
            begin = end if usable else begin + len(window)

    def _cuts(self, text: str) -> list[int]:
        german, english = (self._ends_in(language, text) for language in _LANGUAGES)
        agreed = set(english)
        return [end for end in german if end in agreed and not _is_in_date(text, end)]

    def _ends_in(self, language: str, text: str) -> list[int]:
        ends, at = [], 0
        for sentence in self._segment(language, text):
            at += len(sentence)
            ends.append(at)
        return ends


def _is_in_date(text: str, end: int) -> bool:
    """Whether this is no end but the day of a date, as in `am 3. Okt.`."""
    line = text[max(0, end - 8) : end]
    return _ORDINAL.search(line) is not None and _MONTH.match(text, end) is not None
