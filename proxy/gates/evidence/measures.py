"""Quantities that belong together: ranges, years of a range, and measures of two parts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from proxy.gates.evidence.quantity import Quantity

_JOINED: Final = re.compile(r"-?\s*(?:-|/|bis(?: zu)?|auf|to|und|and|or|oder|through)\s*-?\s*\Z")
_JOINABLE: Final = frozenset({"time", "months", "length"})
_PARTS: Final = re.compile(r"(?P<comma>,?) (?:und |and )?")
_RANGE: Final = re.compile(r"[-/]")
_SHORT_YEAR: Final = 100


def with_neighbours(text: str, found: list[Quantity]) -> Iterator[Quantity]:
    """In "30 to 40 million euros" the first is in million euros too; 1620-21 is two years."""
    for place, one in enumerate(found):
        after = found[place + 1] if place + 1 < len(found) else None
        if (
            after
            and not one.unit
            and (after.unit or after.scale != 1.0)
            and _joins(text, one, after)
        ):
            scaled = ((value * after.scale, step * after.scale) for value, step in one.values)
            extra = tuple(scaled) if one.scale == 1.0 and after.scale != 1.0 else ()
            one = replace(one, unit=after.unit, values=one.values + extra)  # noqa: PLW2901
        before = found[place - 1] if place else None
        if before and before.is_year and one.value < _SHORT_YEAR and not one.unit:
            between = text[before.end : one.start]
            if _RANGE.fullmatch(between):
                century = before.value - before.value % _SHORT_YEAR
                year = (century + one.value, 1.0)
                one = replace(one, values=(*one.values, year))  # noqa: PLW2901
        yield one


def _joins(text: str, one: Quantity, after: Quantity) -> bool:
    between = text[one.end : after.start]
    return len(between) < len(" bis zu  - ") and _JOINED.match(between) is not None


def joined_measures(text: str, found: Sequence[Quantity]) -> Iterator[tuple[int, Quantity]]:
    """Each "2 hours 9 minutes" as one quantity, with the position of its first part."""
    for place, (one, after) in enumerate(pairwise(found)):
        if one.unit is None or after.unit is None or one.unit.kind != after.unit.kind:
            continue
        if one.unit.kind not in _JOINABLE or one.unit.factor <= after.unit.factor:
            continue
        between = _PARTS.fullmatch(text, one.end, after.start)
        if between and (one.unit.kind == "time" or not between["comma"]):
            value = one.value * one.unit.factor / after.unit.factor + after.value
            yield place, replace(after, start=one.start, values=((value, 1.0),))
