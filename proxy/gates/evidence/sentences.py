"""Sentences and clauses of a text, as ranges of characters."""

import re
from typing import Final

from proxy.gates.evidence.findings import Span

_CLAUSE: Final = re.compile(
    r"[,;:]\s+|\s-\s|\s(?=(?:and|und|but|aber|while|während|because|weil|due to|aufgrund)\b)"
)
_LINE: Final = re.compile(r"[^\n]+")
# The splitter looks for the end of every quotation that begins: quadratic where many never end.
_WINDOW: Final = 4000


def sentences(text: str, language: str) -> list[Span]:
    """Sentences in their order; a line end always ends one, and so do 4,000 characters."""
    from sentencex import get_sentence_boundaries  # noqa: PLC0415 - only where a policy names the gate

    found: list[Span] = []
    for line in _LINE.finditer(text):
        start = line.start()
        while start < line.end():
            window = text[start : min(start + _WINDOW, line.end())]
            ends = [
                start + one["end_index"]
                for one in get_sentence_boundaries(language or "en", window)
            ]
            if start + len(window) < line.end() and len(ends) > 1:
                ends.pop()  # may be the beginning of one that goes on
            for end in ends:
                found.append(Span(start, end))
                start = end
    return [span for span in found if not span.of(text).isspace()]


def clauses(text: str, sentence: Span) -> list[Span]:
    """The parts of a sentence between commas, dashes and conjunctions."""
    found = []
    start = sentence.start
    for match in _CLAUSE.finditer(text, sentence.start, sentence.end):
        if match.start() > start:
            found.append(Span(start, match.start()))
        start = match.end()
    found.append(Span(start, sentence.end))
    return found
