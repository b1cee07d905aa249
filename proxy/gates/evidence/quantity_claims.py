"""Quantities of an answer held against a source: borne, derived, of another unit, or missing."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from proxy.gates.evidence.answer_text import AnswerText
from proxy.gates.evidence.comparison import compare
from proxy.gates.evidence.derived import MOST_OPERANDS, Material, derive
from proxy.gates.evidence.enumerations import enumeration_lengths
from proxy.gates.evidence.findings import Finding, Kind, Rounding, Span, Support
from proxy.gates.evidence.hedges import hedge_at
from proxy.gates.evidence.nearest import NearestSentences
from proxy.gates.evidence.quantity import Quantity
from proxy.gates.evidence.scaling import is_scaled, scale_between
from proxy.gates.evidence.source_index import SourceIndex

_SMALL: Final = frozenset({0.0, 1.0, 2.0})
_NEAR: Final = 3

_Missing = tuple[Quantity, Finding]


def quantity_findings(
    answer: AnswerText,
    index: SourceIndex,
    asked: SourceIndex,
    nearest: NearestSentences,
    rounding: Rounding,
) -> Iterator[Finding]:
    """What was asked about is no claim."""
    missing: list[_Missing] = []
    for one in answer.quantities:
        if _says_little(one):
            continue
        hedge = hedge_at(answer.plain, one.start, one.end)
        if compare(one, hedge, asked, rounding).support is not Support.MISSING:
            continue
        match = compare(one, hedge, index, rounding)
        source = Span(match.source.start, match.source.end) if match.source else None
        kind = _kind_of(one, match.support)
        finding = Finding(kind, match.support, Span(one.start, one.end), _label(one), source)
        if finding.is_flag:
            missing.append((one, finding))
        else:
            yield finding
    yield from _derived(missing, answer, index, nearest)


def _derived(
    missing: Sequence[_Missing], answer: AnswerText, index: SourceIndex, nearest: NearestSentences
) -> Iterator[Finding]:
    """Flags, but for those values that follow from the source by a stated operation."""
    known = index.quantities
    factor = scale_between([one for one, _ in missing], known) if len(missing) > 1 else None
    for one, finding in missing:
        other = is_scaled(one, factor, known) if factor is not None else None
        if other is not None:
            span = Span(other.start, other.end)
            yield _as_derived(finding, f"{span.of(index.text)} x {factor:g}", span)
            continue
        sentence = answer.around(one.start)
        near = nearest.spans(sentence, _NEAR)
        if _counts_what_is_listed(one, sentence, answer, near, index):
            yield _as_derived(
                finding, f"{one.value:g} things are listed", near[0] if near else None
            )
            continue
        operands = known if len(known) <= MOST_OPERANDS else _quantities_in(near, index)
        found = derive(one, sentence, Material(operands, index.clock_times, index.text))
        if found is not None:
            span = Span(found.source.start, found.source.end)
            yield _as_derived(finding, found.operation, span)
        else:
            yield finding if finding.nearest or not near else replace(finding, nearest=near[0])


def _counts_what_is_listed(
    one: Quantity, sentence: str, answer: AnswerText, near: Sequence[Span], index: SourceIndex
) -> bool:
    """Whether "drei Gründe" announces a list of the answer, or counts one of the source."""
    if one.unit is not None or one.scale != 1.0 or one.is_share or one.is_ordinal:
        return False
    if sentence.rstrip(" *_\n").endswith(":") and one.value in answer.list_lengths:
        return True
    if not one.is_word:
        return False
    return one.value in index.list_lengths or any(
        one.value in enumeration_lengths(span.of(index.text)) for span in near
    )


def _quantities_in(spans: Sequence[Span], index: SourceIndex) -> list[Quantity]:
    starts = index.quantity_starts
    found: list[Quantity] = []
    for span in spans:
        first, last = bisect_left(starts, span.start), bisect_left(starts, span.end)
        found += index.quantities[first : min(last, first + MOST_OPERANDS)]
    return found


def _as_derived(finding: Finding, operation: str, span: Span | None) -> Finding:
    return replace(finding, support=Support.DERIVED, nearest=span, operation=operation)


def _says_little(one: Quantity) -> bool:
    """One and two stand for articles and pairs too often to be held against anything."""
    return one.unit is None and one.scale == 1.0 and all(value in _SMALL for value, _ in one.values)


def _kind_of(one: Quantity, support: Support) -> Kind:
    if support is Support.UNIT_MISMATCH:
        return Kind.UNIT
    return Kind.DATE if one.is_year or one.is_decade else Kind.NUMBER


def _label(one: Quantity) -> str:
    unit = f" {one.unit.kind}" if one.unit else ""
    return f"{'-' if one.is_negative else ''}{one.value:.9g}{unit}"
