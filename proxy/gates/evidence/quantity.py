"""A quantity as a text has it, and what stands behind its figures: scale, unit, or a noun."""

import re
from dataclasses import dataclass, replace
from typing import Final

from proxy.gates.evidence.units import UNIT, Unit, unit_named

_YEAR_DIGITS: Final = 4
_FIRST_YEAR, _LAST_YEAR = 1400, 2100

SCALES: Final = {
    "hundert": 1e2, "hundred": 1e2, "tsd": 1e3, "tausend": 1e3, "thousand": 1e3, "k": 1e3,
    "mio": 1e6, "million": 1e6, "millionen": 1e6, "millions": 1e6, "mn": 1e6, "m": 1e6, "mrd": 1e9,
    "milliarde": 1e9, "milliarden": 1e9, "billion": 1e9, "billions": 1e9, "bn": 1e9, "b": 1e9,
    "billionen": 1e12, "trillion": 1e12, "trillions": 1e12, "dutzend": 12.0, "dozen": 12.0,
}  # fmt: skip
_SCALE: Final = (
    r"(?:[ -]?(?P<scale>Tsd\.?|Tausend|tausend|[Tt]housand|[Hh]undred|[Hh]undert|Mio\.?|Millionen"
    r"|Million|[Mm]illions?|mn|Mrd\.?|Milliarden?|[Bb]illions?|bn|Billionen|[Tt]rillions?|Dutzend|dozen)"
    r"|(?P<letter>[kKMBm]))(?![^\W\d_])"
)
_TAIL: Final = re.compile(rf"(?P<ordinal>st|nd|rd|th|te[nrsm]?)\b|(?P<decade>'?s|er)\b|{_SCALE}")
# "20. Jahrhundert": a German ordinal has a point.
_BEHIND: Final = re.compile(rf"(?:[ -]|\. (?=[A-ZÄÖÜ]))?(?P<unit>{UNIT})(?![^\W\d_])")
_NOUN: Final = re.compile(r" ([^\W\d_]{3,})")


@dataclass(frozen=True, slots=True)
class Quantity:
    """`values`: each possible value with the worth of its last significant digit.

    `is_word`: written as a word. `is_share`: a fraction such as "a third", never meant exactly.
    `is_negative`: with a minus sign, which `values` leaves out. `is_decade`: "1990s".
    `noun`: the word behind it, where that is no unit.
    """

    start: int
    end: int
    values: tuple[tuple[float, float], ...]
    unit: Unit | None = None
    scale: float = 1.0
    noun: str = ""
    is_word: bool = False
    is_share: bool = False
    is_ordinal: bool = False
    is_negative: bool = False
    is_decade: bool = False

    @property
    def value(self) -> float:
        return self.values[0][0]

    @property
    def is_year(self) -> bool:
        """A plain whole number of four digits that is a year far more often than a count."""
        bare = self.unit is None and self.scale == 1.0 and not self.is_word
        return (
            bare
            and self.end - self.start == _YEAR_DIGITS
            and _FIRST_YEAR <= self.value < _LAST_YEAR
        )


def with_tail(text: str, quantity: Quantity) -> Quantity:
    """What stands behind a number: ordinal, decade, scale, unit, or a plain noun."""
    end = quantity.end
    tail = _TAIL.match(text, end)
    if tail is not None:
        if tail["decade"] and not quantity.is_word:
            return replace(quantity, end=tail.end(), is_decade=True)
        name = tail["scale"] or tail["letter"]
        if name == "m" and quantity.unit is None:
            name = ""  # metres, but for "€5m"
        if name:
            quantity = _scaled(quantity, name, tail.end())
        elif tail["ordinal"]:
            quantity = replace(quantity, end=tail.end(), is_ordinal=True)
        end = quantity.end
    behind = _BEHIND.match(text, end)
    unit = unit_named(behind["unit"]) if behind else None
    if behind is not None and unit is not None:
        return replace(quantity, end=behind.end(), unit=unit)
    noun = _NOUN.match(text, end)
    return replace(quantity, noun=noun[1]) if noun else quantity


def _scaled(quantity: Quantity, name: str, end: int) -> Quantity:
    """With its scale. A "Billion" is a thousand times more in German than in English."""
    scale = SCALES[name.lower().rstrip(".")]
    scales = (scale, scale * 1000) if name == "Billion" else (scale,)
    values = tuple(
        (value * each, step * each) for each in scales for value, step in quantity.values
    )
    return replace(quantity, end=end, values=values, scale=scale)
