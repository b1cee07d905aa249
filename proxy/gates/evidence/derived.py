"""Values that follow from a source by a stated operation: a sum, a difference, a share, a scale.

Free arithmetic would justify almost any number, so a cue in the sentence must name the operation.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Final

from proxy.gates.evidence.dates import ClockTime
from proxy.gates.evidence.quantity import Quantity
from proxy.gates.evidence.scaling import base_of, is_like, is_value, kind_of
from proxy.gates.evidence.source_index import value_key
from proxy.gates.evidence.units import PERCENT, YEAR

_SUM: Final = re.compile(
    r"\b(?:insgesamt|zusammen\w*|total|gesamt\w*|summe|summiert|addiert|plus|und weitere|overall"
    r"|altogether|combined|in all|in total|sum|both|sums?|adds? up)\b",
    re.IGNORECASE,
)
_DIFFERENCE: Final = re.compile(
    r"\b(?:differenz|unterschied|mehr|weniger|minus|höher|tiefer|niedriger|später|früher|spät"
    r"|verspät\w*|dauer\w*|lang|alt|älter|jünger|übrig\w*|rest\w*|verbleib\w*|zunahme|anstieg|rückgang|stieg\w*"
    r"|sank\w*|überschreit\w*|übersteig\w*|unterschreit\w*|gestiegen|gesunken|nach|innerhalb|difference|more|fewer|less|later|earlier|late"
    r"|delay\w*|last\w*|took|takes?|long|old|older|younger|aged|age|left|remain\w*|increase\w*"
    r"|decrease\w*|rose|fell|grew|drop\w*|within|after|ago|exceed\w*|seit|for)\b",
    re.IGNORECASE,
)
_SHARE: Final = re.compile(
    r"\b(?:anteil\w*|prozent\w*|share|percent\w*|proportion|quote|rate)\b|%", re.IGNORECASE
)
_BEFORE: Final = re.compile(
    r"\b(?:vor|vorher|zuvor|bisher|bislang|nun|neu|jetzt|danach|before|previously|earlier|now|then)\b",
    re.IGNORECASE,
)
_PRODUCT: Final = re.compile(
    r"\b(?:je|pro|jeweils|mal|doppelt\w*|dreifach\w*|each|per|times|double\w*|twice|triple\w*)\b",
    re.IGNORECASE,
)
MOST_OPERANDS: Final = 24
_FEWEST_IN_ROW: Final = 3
_DAY: Final = 24 * 60
_CLOCK_UNIT: Final = 60.0
# A fraction in words is rough, but the more counts there are, the more of them fit any fraction.
_SHARE_TOLERANCE: Final = 0.1
_SHARE_TOLERANCE_OF_MANY: Final = 0.04
_FEW: Final = 4
# Half of the last digit of a percentage, and a little for arithmetic.
_HALF_PERCENT: Final = 0.0051


@dataclass(frozen=True, slots=True)
class Derivation:
    """`operation` in figures, and one of the quantities that it starts from."""

    operation: str
    source: Quantity | ClockTime


@dataclass(frozen=True, slots=True)
class Material:
    """What a value may follow from: quantities and times of a source, and its text."""

    quantities: Sequence[Quantity]
    times: Sequence[ClockTime]
    text: str


def derive(quantity: Quantity, sentence: str, material: Material) -> Derivation | None:
    """How a value follows from the material by what the sentence says."""
    some = Material(
        material.quantities[:MOST_OPERANDS], material.times[:MOST_OPERANDS], material.text
    )
    for cue, operation in _OPERATIONS:
        if cue is None or cue.search(sentence):
            found = operation(quantity, some)
            if found is not None:
                return found
    return None


def _operation(one: Quantity, sign: str, other: Quantity, text: str) -> str:
    return f"{text[one.start : one.end]} {sign} {text[other.start : other.end]}"


def _between_times(quantity: Quantity, material: Material) -> Derivation | None:
    if quantity.unit is None or quantity.unit.kind != "time":
        return None
    minutes = {value * quantity.unit.factor / _CLOCK_UNIT for value, _ in quantity.values}
    for one, other in combinations(material.times, 2):
        distance = abs(one.minutes - other.minutes)
        if distance in minutes or _DAY - distance in minutes:
            return Derivation(f"{other.label} - {one.label}", one)
    return None


def _between_years(quantity: Quantity, material: Material) -> Derivation | None:
    if quantity.unit not in (YEAR, None):
        return None
    years = [one for one in material.quantities if one.is_year]
    for one, other in combinations(years, 2):
        if abs(one.value - other.value) == quantity.value:
            first, last = sorted((int(one.value), int(other.value)))
            return Derivation(f"{last} - {first}", one)
    return None


def _moved_by_points(quantity: Quantity, material: Material) -> Derivation | None:
    """A percentage before or after it moved by some points."""
    if quantity.unit != PERCENT:
        return None
    for one, other in permutations(material.quantities, 2):
        if one.unit != PERCENT or kind_of(other.unit) != "points":
            continue
        for sign, moved in (("+", one.value + other.value), ("-", one.value - other.value)):
            if value_key(moved) == value_key(quantity.value):
                return Derivation(_operation(one, sign, other, material.text), one)
    return None


def _sum(quantity: Quantity, material: Material) -> Derivation | None:
    """The sum of two quantities, or of at least three that follow each other."""
    like = [one for one in material.quantities if is_like(one, quantity)]
    for one, other in combinations(like, 2):
        if is_value(quantity, base_of(one) + base_of(other)):
            return Derivation(_operation(one, "+", other, material.text), one)
    for start in range(len(like)):
        total = 0.0
        for stop in range(start, len(like)):
            total += base_of(like[stop])
            if stop - start >= _FEWEST_IN_ROW - 1 and is_value(quantity, total):
                part = like[start : stop + 1]
                terms = " + ".join(material.text[one.start : one.end] for one in part)
                return Derivation(terms, part[0])
    return None


def _difference(quantity: Quantity, material: Material) -> Derivation | None:
    """The distance of two values; between two percentages it is told in points, not in percent."""
    if quantity.unit == PERCENT:
        return None
    is_points = kind_of(quantity.unit) == "points"
    like = [
        one
        for one in material.quantities
        if (one.unit == PERCENT if is_points else is_like(one, quantity))
    ]
    for one, other in combinations(like, 2):
        distance = abs(one.value - other.value) if is_points else abs(base_of(one) - base_of(other))
        if is_value(quantity, distance):
            return Derivation(_operation(one, "-", other, material.text), one)
    return None


def _fraction(quantity: Quantity, material: Material) -> Derivation | None:
    """A fraction in words, which is a cue by itself: "a third" of what was counted."""
    return _share(quantity, material) if quantity.is_share else None


def _percentage(quantity: Quantity, material: Material) -> Derivation | None:
    return _share(quantity, material) if quantity.unit == PERCENT else None


def _share(quantity: Quantity, material: Material) -> Derivation | None:
    """One count as a part of another, or the growth from one to the other."""
    counts = [one for one in material.quantities if _is_count(one)]
    base = base_of(quantity)
    # "30 %" is no rounded third: its zero counts, else two of some counts would make any tenth.
    within = min(quantity.values[0][1], 1.0) * _HALF_PERCENT
    if quantity.is_share:
        within = base * (_SHARE_TOLERANCE if len(counts) <= _FEW else _SHARE_TOLERANCE_OF_MANY)
    for one, other in permutations(counts, 2):
        share = one.value / other.value
        if abs(share - base) <= within:
            return Derivation(_operation(one, "/", other, material.text), one)
        if not quantity.is_share and abs(abs(share - 1) - base) <= within:
            return Derivation(_operation(one, "/", other, material.text) + " - 1", one)
    return None


def _product(quantity: Quantity, material: Material) -> Derivation | None:
    for one, other in combinations(material.quantities, 2):
        is_counted = one.unit is None or other.unit is None
        if is_counted and is_value(quantity, base_of(one) * base_of(other)):
            return Derivation(_operation(one, "x", other, material.text), one)
    return None


def _is_count(one: Quantity) -> bool:
    return one.unit is None and one.value > 0 and not (one.is_share or one.is_year)


# Each operation with the cue that names it.
_OPERATIONS: Final[
    Sequence[tuple[re.Pattern[str] | None, Callable[[Quantity, Material], Derivation | None]]]
] = (
    (_DIFFERENCE, _between_times),
    (_DIFFERENCE, _between_years),
    (_BEFORE, _moved_by_points),
    (_DIFFERENCE, _moved_by_points),
    (_SUM, _sum),
    (_DIFFERENCE, _difference),
    (None, _fraction),
    (_SHARE, _percentage),
    (_PRODUCT, _product),
    (_SUM, _product),
)
