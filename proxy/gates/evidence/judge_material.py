"""What a judge is shown: each doubted claim, and a bounded number of source sentences."""

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import Final

from proxy.gates.evidence.findings import Span
from proxy.gates.evidence.nearest import NearestSentences
from proxy.gates.evidence.plain_text import plain_text
from proxy.gates.evidence.sentences import clauses, sentences
from proxy.gates.evidence.source_index import SourceIndex
from proxy.gates.evidence.tongues import WORD
from proxy.gates.questions import Claim

MOST_SENTENCES: Final = 60
# Longer ones are tables and lists without an end; what is cut off is not quoted either.
MOST_CHARACTERS: Final = 600
_WINDOW: Final = 1000


def claim_at(text: str, span: Span, language: str) -> Claim:
    """The clauses of an answer that a finding lies in, and their sentence."""
    sentence = _sentence_at(text, span, language)
    touched = [one for one in clauses(text, sentence) if _overlap(one, span)] or [sentence]
    part = Span(touched[0].start, touched[-1].end)
    return Claim(_plain(part.of(text)), _plain(sentence.of(text)))


def sentences_for(claims: Sequence[Claim], source: SourceIndex) -> tuple[str, ...]:
    """The sentences of a source in their order: all where there are few, else the nearest ones."""
    spans = source.sentences
    numbers: Sequence[int] = range(len(spans))
    if len(spans) > MOST_SENTENCES:
        ranked = dict.fromkeys(chain(_ranked(claims, source), numbers))
        numbers = sorted(list(ranked)[:MOST_SENTENCES])
    return tuple(_plain(spans[number].of(source.text))[:MOST_CHARACTERS] for number in numbers)


def _ranked(claims: Sequence[Claim], source: SourceIndex) -> Iterator[int]:
    """The nearest sentence of each claim, then the second nearest of each, and so on."""
    nearest = NearestSentences(source, "\n".join(claim.context for claim in claims))
    lists = [nearest.numbers(WORD.findall(claim.context), most=MOST_SENTENCES) for claim in claims]
    for row in zip_longest(*lists):
        yield from (number for number in row if number is not None)


def _sentence_at(text: str, span: Span, language: str) -> Span:
    """Looked for near the finding only: an answer may be long."""
    start = max(text.rfind("\n", 0, span.start) + 1, span.start - _WINDOW)
    end = text.find("\n", span.end)
    end = min(len(text) if end < 0 else end, span.end + _WINDOW)
    window = Span(start, end)
    for one in sentences(window.of(text), language):
        found = Span(start + one.start, start + one.end)
        if found.start <= span.start < found.end:
            return Span(found.start, max(found.end, span.end))
    return window


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _plain(text: str) -> str:
    """On one line and without invisible signs."""
    return " ".join(plain_text(text).text.split())
