"""Whether a source bears a quantity: the same value, one in another unit, or a rounded one."""

from dataclasses import dataclass
from typing import Final

from proxy.gates.evidence.findings import Rounding, Support
from proxy.gates.evidence.hedges import Hedge
from proxy.gates.evidence.quantity import Quantity
from proxy.gates.evidence.source_index import COUNTED_LETTERS, FIGURES, SourceIndex, value_key
from proxy.gates.evidence.tongues import WORD
from proxy.gates.evidence.units import CENTURY, PERCENT, SHARE


@dataclass(frozen=True, slots=True)
class Match:
    """How a source bears a quantity, and by which of its own."""

    support: Support
    source: Quantity | None = None


# A share in words ("two thirds") is never meant more exactly than this part of itself.
_SHARE_TOLERANCE: Final = 0.1
_CONVERTED_TOLERANCE: Final = 0.012
_BEHIND: Final = 48
_MOST_COMPARED: Final = 256
_DECADE: Final = 10
_CENTURY: Final = 100
_LAST_CENTURY: Final = 1900
_LATEST_CENTURY: Final = 22


def compare(quantity: Quantity, hedge: Hedge, index: SourceIndex, rounding: Rounding) -> Match:
    """The best support that a source has for a quantity."""
    mismatch: Quantity | None = None
    for value, _ in quantity.values:
        for source in index.by_value.get(value_key(value), [])[:_MOST_COMPARED]:
            if _same_measure(quantity, source) and not _counts_another(quantity, source, index):
                return Match(Support.EXACT, source)
            mismatch = mismatch or source
    found = _converted(quantity, index) or _rounded(quantity, hedge, index, rounding)
    if found is not None:
        return found
    if mismatch is not None:
        return Match(Support.UNIT_MISMATCH, mismatch)
    return _in_a_period(quantity, index) or Match(Support.MISSING)


def _same_measure(one: Quantity, source: Quantity) -> bool:
    """Whether two equal figures may mean the same; a missing unit contradicts none."""
    if one.unit is None or source.unit is None:
        return not _loses_percent(one, source)
    if one.unit != source.unit:
        return False
    return one.unit.kind != "temperature" or one.is_negative == source.is_negative


def _loses_percent(one: Quantity, source: Quantity) -> bool:
    """Percent of something became a count of something, as in "35 %" and "35 people"."""
    other = one.unit or source.unit
    bare = source if one.unit else one
    is_count = bool(bare.noun) and bare is one and bare.noun[0].isupper() and not bare.is_share
    return other == PERCENT and is_count and not bare.is_word


def _counts_another(one: Quantity, source: Quantity, index: SourceIndex) -> bool:
    """Whether the source counts something else by this figure, and the same thing by another."""
    if not one.noun or not source.noun or one.unit or source.unit or one.is_ordinal:
        return False
    noun = _beginning(one.noun)
    behind = index.text[source.end : source.end + _BEHIND]
    if noun in {_beginning(word) for word in WORD.findall(behind)}:
        return False
    return any(value_key(other) != value_key(one.value) for other in index.counted.get(noun, ()))


def _beginning(word: str) -> str:
    return word[:COUNTED_LETTERS].lower()


def _converted(quantity: Quantity, index: SourceIndex) -> Match | None:
    """The same amount in another unit; the result of a conversion may be rounded."""
    unit = SHARE if quantity.is_share else quantity.unit
    if unit is None:
        return None
    tolerance = _SHARE_TOLERANCE if quantity.is_share else _CONVERTED_TOLERANCE
    for value, _ in quantity.values:
        base = unit.base(-value if quantity.is_negative else value)
        room = tolerance * abs(base - unit.offset)
        for source_base, source in index.measured(unit.kind, base - room, base + room):
            if source.unit == unit and not quantity.is_share:
                continue
            is_exact = value_key(base) == value_key(source_base) or not quantity.is_share
            return Match(Support.CONVERTED if is_exact else Support.ROUNDED, source)
        if unit.kind == SHARE.kind:
            found = _share_without_unit(quantity, base, room, index)
            if found is not None:
                return found
    return None


def _share_without_unit(
    quantity: Quantity, base: float, room: float, index: SourceIndex
) -> Match | None:
    """Two thirds for two thirds, or 35 % for 0.35."""
    for other, source in index.measured("", base - room, base + room):
        if quantity.is_share and source.is_share:
            return Match(Support.ROUNDED, source)
        if not quantity.is_share and value_key(other) == value_key(base):
            return Match(Support.CONVERTED, source)
    return None


def _rounded(
    quantity: Quantity, hedge: Hedge, index: SourceIndex, rounding: Rounding
) -> Match | None:
    if rounding is Rounding.EXACT or (rounding is Rounding.HEDGED and hedge is Hedge.NONE):
        return None
    unit = quantity.unit
    for value, step in quantity.values:
        if unit is None:
            found = _first_rounded(index, FIGURES, value, step, hedge)
            if found is not None and found.is_year and not quantity.is_year:
                found = None
        else:
            signed = -value if quantity.is_negative else value
            found = _first_rounded(
                index, unit.kind, unit.base(signed), step * unit.factor, hedge
            ) or _first_rounded(index, "", value, step, hedge)
        if found is not None:
            return Match(Support.ROUNDED, found)
    return None


def _first_rounded(
    index: SourceIndex, kind: str, value: float, step: float, hedge: Hedge
) -> Quantity | None:
    """The first quantity that this value is, rounded at its last digit to the side of its hedge."""
    low = value if hedge is Hedge.ABOVE else value - (step if hedge is Hedge.BELOW else step / 2)
    high = value if hedge is Hedge.BELOW else value + (step if hedge is Hedge.ABOVE else step / 2)
    for base, source in index.measured(kind, low, high):
        if source.is_share or (base in (low, high) and base != value and hedge is not Hedge.ABOUT):
            continue
        return source
    return None


def _in_a_period(quantity: Quantity, index: SourceIndex) -> Match | None:
    """A decade or century that a year of the source lies in."""
    if quantity.is_decade:
        first = quantity.value if quantity.value >= _CENTURY else _LAST_CENTURY + quantity.value
        last = first + _DECADE - 1
    elif quantity.unit == CENTURY and quantity.value <= _LATEST_CENTURY:
        last = quantity.value * _CENTURY
        first = last - _CENTURY
    else:
        return None
    for _, source in index.measured("", first, last):
        if source.is_year:
            return Match(Support.ROUNDED, source)
    return None
