"""Dates, times of day and weekdays of an answer, held against a source."""

from collections.abc import Iterator, Sequence
from typing import Final

from proxy.gates.evidence.answer_text import AnswerText
from proxy.gates.evidence.dates import ClockTime, Date, weekday_of
from proxy.gates.evidence.findings import Finding, Kind, Span, Support
from proxy.gates.evidence.source_index import SourceIndex

_DAY: Final = 24 * 60
_MOST_COMPARED: Final = 256


def date_findings(answer: AnswerText, index: SourceIndex, asked: SourceIndex) -> Iterator[Finding]:
    """What was asked about is no claim. A date is borne if each of its fields is."""
    for date in answer.dates:
        if not _bears_date(asked, date):
            yield _finding(date, _bears_date(index, date), date.label, index.dates)
    if answer.clock_times:
        known = {one.minutes for one in (*index.clock_times, *asked.clock_times)}
        for time in answer.clock_times:
            # "2:30" may be meant for the afternoon.
            is_known = bool(known & {time.minutes, (time.minutes + _DAY // 2) % _DAY})
            yield _finding(time, is_known, time.label, index.clock_times)
    yield from _weekday_findings(answer, index, asked)


def _weekday_findings(
    answer: AnswerText, index: SourceIndex, asked: SourceIndex
) -> Iterator[Finding]:
    """Weekdays follow from full dates too; a source that names neither is not asked."""
    if not answer.weekdays:
        return
    known = {one.number for one in (*index.weekdays, *asked.weekdays)}
    for date in (*index.dates, *answer.dates, *asked.dates):
        for year, month, day in date.readings:
            if year and month and day and (number := weekday_of(year, month, day)) is not None:
                known.add(number)
    for one in answer.weekdays if known else ():
        support = Support.EXACT if one.number in known else Support.MISSING
        yield Finding(Kind.DATE, support, Span(one.start, one.end), f"weekday {one.number + 1}")


def _finding(
    claim: Date | ClockTime, is_borne: bool, label: str, there: Sequence[Date] | Sequence[ClockTime]
) -> Finding:
    """Of a source's dates the first with most fields in common is nearest."""
    support = Support.EXACT if is_borne else Support.MISSING
    own = _fields(claim)
    some: list[Date | ClockTime] = [*there[:_MOST_COMPARED]]
    near = max(some, key=lambda one: _in_common(own, _fields(one)), default=None)
    nearest = Span(near.start, near.end) if near else None
    return Finding(Kind.DATE, support, Span(claim.start, claim.end), label, nearest)


def _fields(one: Date | ClockTime) -> tuple[int | None, ...]:
    return one.readings[0] if isinstance(one, Date) else divmod(one.minutes, 60)


def _in_common(one: tuple[int | None, ...], other: tuple[int | None, ...]) -> int:
    return sum(first == second for first, second in zip(one, other, strict=True))


def _bears_date(index: SourceIndex, date: Date) -> bool:
    """Whether a date of the source agrees in each field; a year may stand elsewhere there."""
    for year, month, day in date.readings:
        years = index.years_by_day.get((month, day), set())
        if years and (year is None or year in years):
            return True
        if None in years and str(year) in index.by_value:
            return True
    return False
