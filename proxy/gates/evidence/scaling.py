"""Which quantities are alike, and which is another one times a factor that an answer states."""

from collections.abc import Sequence
from typing import Final

from proxy.gates.evidence.quantity import Quantity
from proxy.gates.evidence.source_index import COUNTED_LETTERS, value_key
from proxy.gates.evidence.units import Unit

_MOST_OPERANDS: Final = 24


def scale_between(missing: Sequence[Quantity], known: Sequence[Quantity]) -> float | None:
    """The factor that a sentence states by counting the same thing anew: "for 8 people" for 4."""
    for one in missing:
        if one.unit is not None or not one.noun:
            continue
        for other in known[:_MOST_OPERANDS]:
            same = other.noun.lower()[:COUNTED_LETTERS] == one.noun.lower()[:COUNTED_LETTERS]
            if other.unit is None and same and other.value and one.value != other.value:
                return one.value / other.value
    return None


def is_scaled(quantity: Quantity, factor: float, known: Sequence[Quantity]) -> Quantity | None:
    """The quantity of a source that this one is, times a factor."""
    for other in known[:_MOST_OPERANDS]:
        if is_like(other, quantity) and is_value(quantity, base_of(other) * factor):
            return other
    return None


def kind_of(unit: Unit | None) -> str:
    return unit.kind if unit else ""


def is_like(one: Quantity, other: Quantity) -> bool:
    return kind_of(one.unit) == kind_of(other.unit) and not one.is_share


def base_of(quantity: Quantity) -> float:
    unit = quantity.unit
    return quantity.value * unit.factor if unit else quantity.value


def is_value(quantity: Quantity, base: float) -> bool:
    return any(
        value_key(value * (quantity.unit.factor if quantity.unit else 1.0)) == value_key(base)
        for value, _ in quantity.values
    )
