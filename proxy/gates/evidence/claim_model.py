"""What a local model may do: drop a hint or give one. Typed findings are out of its reach."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from proxy.gates.evidence.findings import Finding, Kind, Span, Support
from proxy.gates.evidence.nearest import NearestSentences
from proxy.gates.evidence.sentences import sentences
from proxy.gates.evidence.source_index import SourceIndex
from proxy.gates.evidence.tongues import language_of

# With more sentences to ask about, a reply is left as it is: a model takes milliseconds for each.
MOST_PAIRS: Final = 64
_MOST_SENTENCES: Final = 1000
_NEAREST: Final = 3


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """A sentence of an answer, and the source sentences nearest to it, best first."""

    claim: str
    sentences: tuple[str, ...]


class ClaimModel(Protocol):
    """Anything that can weigh claims. Must do no I/O over a network, and keep nothing."""

    def probabilities(self, pairs: Sequence[ClaimPair]) -> Sequence[float]:
        """How likely each claim is borne by its sentences, from 0 to 1, in their order."""
        ...


@dataclass(frozen=True, slots=True)
class ModelReview:
    """Puts a model's word beside findings. `raise_below` 0: it only drops hints."""

    model: ClaimModel
    clear_above: float
    raise_below: float = 0.0

    def reviewed(
        self, findings: Sequence[Finding], text: str, source: SourceIndex
    ) -> list[Finding]:
        """The findings of an answer without hints that the model drops, and with those it gives.

        Sentences with a typed finding are not asked about, nor anything across two languages.
        """
        language = language_of(text)
        if language and source.language and language != source.language:
            return list(findings)
        spans = [_trimmed(span, text) for span in sentences(text, language or source.language)]
        if len(spans) > _MOST_SENTENCES:
            return list(findings)
        typed = [one.span for one in findings if one.is_flag and one.kind.is_typed]
        hints = [one for one in findings if one.is_flag and not one.kind.is_typed]
        wanted = [] if self.raise_below else [one.span for one in hints]
        asked = [
            span
            for span in spans
            if not _touches(span, typed) and (self.raise_below or _touches(span, wanted))
        ]
        if not asked or len(asked) > MOST_PAIRS:
            return list(findings)
        told = dict.fromkeys(spans, 0.0)
        told.update(zip(asked, self._probabilities(asked, text, source), strict=True))
        dropped = [one for one in hints if min(_near(told, one.span)) >= self.clear_above]
        given = [
            Finding(Kind.NEW_WORDS, Support.MISSING, span, span.of(text))
            for span in asked
            if told[span] < self.raise_below and not _touches(span, [one.span for one in hints])
        ]
        left = [one for one in findings if one not in dropped]
        return sorted([*left, *given], key=lambda one: (one.span.start, one.span.end))

    def _probabilities(
        self, asked: Sequence[Span], text: str, source: SourceIndex
    ) -> Sequence[float]:
        nearest = NearestSentences(source, text)
        pairs = [
            ClaimPair(
                span.of(text),
                tuple(
                    near.of(source.text).strip() for near in nearest.spans(span.of(text), _NEAREST)
                ),
            )
            for span in asked
        ]
        return self.model.probabilities(pairs)


def _near(told: Mapping[Span, float], hint: Span) -> list[float]:
    """What was told of the sentences that a hint lies in; of those not asked about, zero."""
    return [told[span] for span in told if _touch(span, hint)] or [0.0]


def _trimmed(span: Span, text: str) -> Span:
    """A range without the blanks at its end."""
    return Span(span.start, span.start + len(span.of(text).rstrip()))


def _touches(span: Span, others: Iterable[Span]) -> bool:
    return any(_touch(span, other) for other in others)


def _touch(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end
