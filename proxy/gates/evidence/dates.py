"""Dates and clock times, German, English and ISO. A date may lack fields, such as the year."""

import datetime as dt
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from proxy.gates.evidence.months import MONTHS, WEEKDAY, WEEKDAYS

# What may stand around the name of a month: "5. ... 2024", "the 5th of ...", "... 5, 2024".
_DAY_BEFORE: Final = re.compile(
    r"(?<![\w.,])(?P<day>0?[1-9]|[12]\d|3[01])(?:\.|st|nd|rd|th)?(?: of)? ?\Z"
)
_YEAR_BEHIND: Final = re.compile(r"\.?,?(?: of)? (?P<year>[12]\d{3})(?!\w)")
_DAY_BEHIND: Final = re.compile(
    r"\.? (?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?![\w%:]|[.,']\d)"
    r"(?:,? (?P<year>[12]\d{3})\b)?"
)
_BACK: Final = 10
# "3., 10. und 17. März": days that share the month behind them.
_DAY_IN_LIST: Final = re.compile(
    r"(?<![\w.,])(?P<day>0?[1-9]|[12]\d|3[01])(?:\.|st|nd|rd|th)?"
    r"(?:,| und| and| ?-| ?/| bis| to| &) ?\Z"
)
_LONGEST_LIST: Final = 8
_NUMERIC: Final = re.compile(
    r"(?<![\w.,/-])(?:"
    r"(?P<y1>[12]\d{3})-(?P<m1>0[1-9]|1[0-2])(?:-(?P<d1>0[1-9]|[12]\d|3[01]))?(?![\d-])"
    r"|(?P<d2>0?[1-9]|[12]\d|3[01])\. ?(?P<m2>0?[1-9]|1[0-2])\. ?"
    r"(?P<y2>[12]\d{3}|\d{2}(?!\d))(?!\w|[:-]\d)"
    r"|(?P<a3>\d{1,2})/(?P<b3>\d{1,2})/(?P<y3>[12]\d{3}|\d{2})(?![\w/]))"
)
# Names that are ordinary words too, unless a day or a year stands beside them.
_ORDINARY: Final = frozenset(
    {"mai", "may", "mar", "mär", "märz", "march", "apr", "jan", "jun", "jul"}
    | {"august", "sep", "dez", "dec"}
)
_WEEKDAY: Final = re.compile(rf"\b(?:{WEEKDAY})s?\b", re.IGNORECASE)
_HALF: Final = r"(?: ?(?P<p{0}>[AaPp])\.?[Mm]\b\.?)"
# The first digit stands alone, so that a search skips to digits before it looks at anything else.
_TIME: Final = re.compile(
    r"\d(?:(?<![\w.,:]\d)|(?<=[\d ]T\d))(?:"
    r"(?P<h1>\d?):(?P<n1>[0-5]\d)(?! ?(?:Stunden|Std|h\b|hours|hrs))"
    rf"(?::[0-5]\d(?:\.\d+)?)?(?![\d:]){_HALF.format(1)}?(?: Uhr)?"
    rf"|(?P<h2>\d?)[.](?P<n2>[0-5]\d)(?: ?Uhr\b| ?h\b|{_HALF.format(2)})"
    rf"|(?P<h3>\d?)(?: Uhr\b(?: (?P<n3>[0-5]?\d)(?![\d.,']))?|{_HALF.format(3)}| o'clock))"
)
_LAST_HOUR: Final = 24
_NOON: Final = 12
_CENTURY: Final = 100


@dataclass(frozen=True, slots=True)
class Date:
    """`readings`: (year, month, day), None where the text has none; two for 10/05/2024."""

    start: int
    end: int
    readings: tuple[tuple[int | None, int | None, int | None], ...]

    @property
    def label(self) -> str:
        year, month, day = self.readings[0]
        return "-".join("?" if field is None else f"{field:02d}" for field in (year, month, day))


@dataclass(frozen=True, slots=True)
class ClockTime:
    """`minutes` since midnight."""

    start: int
    end: int
    minutes: int

    @property
    def label(self) -> str:
        return f"{self.minutes // 60:02d}:{self.minutes % 60:02d}"


@dataclass(frozen=True, slots=True)
class Weekday:
    start: int
    end: int
    number: int


def dates(text: str, words: Collection[str]) -> list[Date]:
    """The dates of a text, in their order, none in another. `words`: its distinct words."""
    found = [*_numeric_dates(text), *_named_dates(text, words)]
    kept: list[Date] = []
    for date in sorted(found, key=lambda one: one.start):
        if not kept or date.start >= kept[-1].end:
            kept.append(date)
    return kept


def _named_dates(text: str, words: Collection[str]) -> Iterator[Date]:
    names = [word for word in words if word.lower() in MONTHS]
    if not names:
        return
    either = "|".join(sorted(names, key=len, reverse=True))
    for match in re.finditer(rf"(?<![^\W_])(?:{either})(?![^\W_])", text):
        start, end = match.span()
        month = MONTHS[match[0].lower()]
        before = _DAY_BEFORE.search(text[max(0, start - _BACK) : start])
        behind = _YEAR_BEHIND.match(text, end)
        if before is not None:
            year = int(behind["year"]) if behind else None
            stop = behind.end() if behind else end
            first = max(0, start - _BACK) + before.start()
            yield from _days_before(text, first, (year, month))
            yield Date(first, stop, ((year, month, int(before["day"])),))
        elif behind is not None:
            yield Date(start, behind.end(), ((int(behind["year"]), month, None),))
        elif day := _DAY_BEHIND.match(text, end):
            year = int(day["year"]) if day["year"] else None
            yield Date(start, day.end(), ((year, month, int(day["day"])),))
        elif match[0][0].isupper() and match[0].lower() not in _ORDINARY:
            yield Date(start, end, ((None, month, None),))


def _days_before(text: str, end: int, common: tuple[int | None, int]) -> Iterator[Date]:
    for _ in range(_LONGEST_LIST):
        start = max(0, end - _BACK)
        match = _DAY_IN_LIST.search(text[start:end])
        if match is None:
            return
        day = match["day"]
        yield Date(start + match.start("day"), start + match.end("day"), ((*common, int(day)),))
        end = start + match.start()


def _numeric_dates(text: str) -> Iterator[Date]:
    for match in _NUMERIC.finditer(text):
        fields = match.groupdict()
        if match["y1"]:
            day = int(match["d1"]) if match["d1"] else None
            yield Date(*match.span(), ((int(match["y1"]), int(match["m1"]), day),))
        elif match["y2"]:
            yield Date(*match.span(), ((_year(match["y2"]), int(match["m2"]), int(match["d2"])),))
        else:
            one, other = int(fields["a3"]), int(fields["b3"])
            readings = tuple(
                (_year(fields["y3"]), month, day)
                for day, month in ((one, other), (other, one))
                if 1 <= month <= 12 and 1 <= day <= 31  # noqa: PLR2004 - a calendar
            )
            if readings:
                yield Date(*match.span(), readings)


def clock_times(text: str) -> Iterator[ClockTime]:
    """The times of day in a text, in their order; "2 pm" and "14.00 Uhr" are the same."""
    if ":" not in text and not re.search(r"\d ?(?:Uhr|[AaPp]\.?[Mm]\b|h\b|o')", text):
        return
    for match in _TIME.finditer(text):
        fields = match.groupdict()
        number = next(one for one in "123" if fields[f"h{one}"] is not None)
        hours = int(match[0][0] + fields[f"h{number}"])
        minutes = int(fields[f"n{number}"] or 0)
        if hours > _LAST_HOUR:
            continue
        half = (fields.get(f"p{number}") or "").lower()
        if half == "p" and hours < _NOON:
            hours += _NOON
        elif half == "a" and hours == _NOON:
            hours = 0
        yield ClockTime(*match.span(), hours % 24 * 60 + minutes)


def weekdays(text: str) -> Iterator[Weekday]:
    for match in _WEEKDAY.finditer(text):
        name = match[0].lower()
        yield Weekday(*match.span(), WEEKDAYS.get(name, WEEKDAYS.get(name[:-1], 0)))


def weekday_of(year: int, month: int, day: int) -> int | None:
    """Monday is 0; None for a day that the calendar does not have."""
    try:
        return dt.date(year, month, day).weekday()
    except ValueError:
        return None


def _year(digits: str) -> int:
    year = int(digits)
    return year + (2000 if year < 50 else 1900) if year < _CENTURY else year  # noqa: PLR2004
