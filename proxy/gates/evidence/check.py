"""An answer held against its sources: every claim that can be compared, and hints about others."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from proxy.gates.abstention import Abstention
from proxy.gates.evidence.answer_text import AnswerText
from proxy.gates.evidence.code_claims import code_findings, quotation_findings
from proxy.gates.evidence.date_claims import date_findings
from proxy.gates.evidence.enumerations import list_lengths
from proxy.gates.evidence.findings import TYPED, VALUES, Finding, Kind, Rounding, Span
from proxy.gates.evidence.hint_claims import HintClaims
from proxy.gates.evidence.masks import without_marks
from proxy.gates.evidence.nearest import NearestSentences
from proxy.gates.evidence.plain_text import PlainText, plain_text
from proxy.gates.evidence.quantity_claims import quantity_findings
from proxy.gates.evidence.sentences import sentences
from proxy.gates.evidence.source_index import SourceIndex
from proxy.gates.evidence.tongues import language_of

# What can be compared between two languages.
_ACROSS: Final = frozenset(
    {Kind.NUMBER, Kind.UNIT, Kind.DATE, Kind.VERSION, Kind.IDENTIFIER, Kind.URL}
)
_CODES: Final = frozenset({Kind.VERSION, Kind.IDENTIFIER, Kind.URL})
MOST_CLAIMS: Final = 500
_FIGURE: Final = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Report:
    """`is_complete`: no claim was left out because there were too many of its sort."""

    findings: tuple[Finding, ...]
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class EvidenceCheck:
    """What to look for. `languages`: those whose words are compared with sources in the same."""

    kinds: frozenset[Kind] = frozenset(Kind)
    languages: Collection[str] = ("de", "en")
    rounding: Rounding = Rounding.HEDGED
    _abstention: Abstention = field(default_factory=Abstention)

    def findings(self, answer: str, source: str, asked: str = "") -> tuple[Finding, ...]:
        """All findings in the order of their places.

        What was `asked` proves nothing, but names and numbers may come from it.
        """
        return self.report(answer, SourceIndex(source), SourceIndex(asked)).findings

    def report(self, answer: str, source: SourceIndex, asked: SourceIndex) -> Report:
        """The findings on one answer; of claims of one sort, at most the first 500."""
        plain = plain_text(answer)
        text = without_marks(plain.text)
        language = language_of(text) or source.language
        kinds = self._comparable(language, source.language)
        spans = sentences(text, language)
        nearest = NearestSentences(source, text)
        typed = _Typed(
            AnswerText(text, spans, list_lengths(plain.text)), source, asked, nearest, self.rounding
        )
        hints = HintClaims(text, language, source, asked, nearest)
        about = {span for span in spans if self._abstains(span.of(text))}
        sorts = [*typed.findings(kinds), hints.findings(spans, about, kinds)]
        found: list[Finding] = []
        is_complete = not kinds & VALUES or typed.can_compare_quantities
        for sort in sorts:
            some = list(islice(sort, MOST_CLAIMS + 1))
            is_complete = is_complete and len(some) <= MOST_CLAIMS
            found += some[:MOST_CLAIMS]
        found.sort(key=lambda one: (one.span.start, one.span.end))
        return Report(tuple(_placed(one, plain, source) for one in found), is_complete)

    def _comparable(self, answer: str, source: str) -> frozenset[Kind]:
        if source and answer and answer != source:
            return self.kinds & _ACROSS
        return self.kinds if answer in self.languages else self.kinds & TYPED

    def _abstains(self, sentence: str) -> bool:
        """Whether a sentence says what the material lacks; it speaks about it, not from it."""
        return self._abstention.read(sentence).abstains


@dataclass(frozen=True, slots=True)
class _Typed:
    """The typed claims of one answer."""

    answer: AnswerText
    source: SourceIndex
    asked: SourceIndex
    nearest: NearestSentences
    rounding: Rounding

    @property
    def can_compare_quantities(self) -> bool:
        """Whether all figures of the source are known, so that one can be missing there."""
        if not _FIGURE.search(self.answer.text):
            return True
        return self.source.has_all_quantities and self.asked.has_all_quantities

    def findings(self, kinds: frozenset[Kind]) -> Iterator[Iterable[Finding]]:
        """The findings of these kinds, sort by sort."""
        answer, source, asked, nearest = self.answer, self.source, self.asked, self.nearest
        if kinds & _CODES:
            yield (one for one in code_findings(answer, source, asked) if one.kind in kinds)
        if Kind.DATE in kinds:
            yield date_findings(answer, source, asked)
        if kinds & VALUES and self.can_compare_quantities:
            found = quantity_findings(answer, source, asked, nearest, self.rounding)
            yield (one for each in found if (one := _as_wanted(each, kinds)).kind in kinds)
        if Kind.QUOTATION in kinds:
            yield quotation_findings(answer, source, asked, nearest)


def _as_wanted(finding: Finding, kinds: frozenset[Kind]) -> Finding:
    """A bare year is a number for those who do not look for dates."""
    if finding.kind is Kind.DATE and Kind.DATE not in kinds:
        return replace(finding, kind=Kind.NUMBER)
    return finding


def _placed(finding: Finding, answer: PlainText, source: SourceIndex) -> Finding:
    """With places in the texts as they were."""
    span = Span(*answer.origin(finding.span.start, finding.span.end))
    near = finding.nearest
    nearest = Span(*source.plain.origin(near.start, near.end)) if near else None
    return replace(finding, span=span, nearest=nearest)
