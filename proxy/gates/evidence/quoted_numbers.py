"""Whether a quotation has all numbers of a claim exactly: not rounded, converted or derived."""

import re
from collections.abc import Iterator
from typing import Final, Protocol

from proxy.gates.evidence.dates import Date
from proxy.gates.evidence.quantity import Quantity
from proxy.gates.evidence.source_index import SourceIndex, value_key

_DIGITS: Final = re.compile(r"\d+")
# "a pair", "ein": numbers as words that are seldom meant as such.
_SMALL: Final = 2


class _Placed(Protocol):
    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


def has_numbers_of(quote: str, claim: str) -> bool:
    """Whether each number and date of the claim is in the quotation, with the same unit and sign.

    Digits that are part of neither, as in a name, must be there as they are.
    """
    there, wanted = SourceIndex(quote), SourceIndex(claim)
    for quantity in wanted.quantities:
        if not _is_in_a_date(quantity, wanted) and not _has_quantity(there, quantity):
            return False
    for date in wanted.dates:
        if not any(_bears(one, date) for one in there.dates):
            return False
    return set(_loose_digits(wanted)) <= set(_DIGITS.findall(there.text))


def _has_quantity(there: SourceIndex, wanted: Quantity) -> bool:
    if wanted.is_word and wanted.unit is None and wanted.value <= _SMALL:
        return True
    candidates = (one for value, _ in wanted.values for one in there.by_value[value_key(value)])
    return any(
        one.unit == wanted.unit and one.is_negative == wanted.is_negative for one in candidates
    )


def _bears(date: Date, wanted: Date) -> bool:
    """Whether one reading of a date has all that one of the other says; it may say more."""
    return any(
        all(part in (None, other) for part, other in zip(one, there, strict=True))
        for one in wanted.readings
        for there in date.readings
    )


def _is_in_a_date(quantity: Quantity, index: SourceIndex) -> bool:
    return any(date.start <= quantity.start < date.end for date in index.dates)


def _loose_digits(index: SourceIndex) -> Iterator[str]:
    """Digits that are no quantity and no date."""
    covered: list[_Placed] = [*index.quantities, *index.dates]
    for match in _DIGITS.finditer(index.text):
        if not any(one.start <= match.start() < one.end for one in covered):
            yield match[0]
