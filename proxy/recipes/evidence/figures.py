"""Numbers on record: how each is known, and the arithmetic by which some follow from others.

A printed number stands for all that rounds to it, so what follows from it is a range.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final, Self, TypeAlias

from pydantic import Field, model_validator

from proxy.recipes.evidence.table import Row


class Status(StrEnum):
    """How a number is known; recipes/results/article.yaml explains the words."""

    STATED = "stated"
    DERIVED = "derived"
    BOUNDED = "bounded"


class Operation(StrEnum):
    """What a formula does with its two terms, a and b."""

    DIFFERENCE = "difference"
    PERCENT_MORE = "percent_more"
    PERCENT_LESS = "percent_less"
    RAISED_BY = "raised_by"
    BEFORE_RISE = "before_rise"


_Binary: TypeAlias = Callable[[Decimal, Decimal], Decimal]
_HUNDRED: Final = Decimal(100)

# Each rises or falls steadily in either term as long as terms are positive.
_MEANINGS: Final[Mapping[Operation, tuple[str, _Binary]]] = {
    Operation.DIFFERENCE: ("{a} - {b}", lambda a, b: a - b),
    Operation.PERCENT_MORE: ("100 * ({a} / {b} - 1)", lambda a, b: _HUNDRED * (a / b - 1)),
    Operation.PERCENT_LESS: ("100 * (1 - {a} / {b})", lambda a, b: _HUNDRED * (1 - a / b)),
    Operation.RAISED_BY: ("{a} * (1 + {b} / 100)", lambda a, b: a * (1 + b / _HUNDRED)),
    Operation.BEFORE_RISE: ("{a} / (1 + {b} / 100)", lambda a, b: a / (1 + b / _HUNDRED)),
}

# What rises with both terms has a lower end even where they have no upper one.
_RISING: Final = frozenset({Operation.RAISED_BY})

Formula: TypeAlias = Mapping[Operation, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Range:
    """What a number may be. `middle` is the number itself, None where only bounds are known."""

    middle: Decimal | None
    low: Decimal | None
    high: Decimal | None


class Figure(Row):
    """One number on record, or the bounds of one.

    `about`: the source says that it is approximate, or it follows from one that is. `of` is the
    whole where the number counts a part. `runs` is how many measurements it is the mean of.
    `formula` names an operation and the two figures it takes, `VARIANT.NAME` or, of the same
    variant, `NAME`. `against` is the variant that a relative number is held against.
    """

    status: Status
    unit: str
    value: Decimal | None = None
    at_least: Decimal | None = None
    at_most: Decimal | None = None
    of: Decimal | None = None
    about: bool = False
    runs: int | None = None
    quote: str = ""
    formula: Formula = Field(default_factory=dict, max_length=1)
    against: str = ""
    note: str = ""

    @model_validator(mode="after")
    def _is_known_in_its_way(self) -> Self:
        if self.value is None and self.at_least is None and self.at_most is None:
            raise ValueError("a figure has a value, or a bound")
        if self.status is Status.STATED and not self.quote:
            raise ValueError("a stated figure has a quote")
        if self.status is Status.DERIVED and not self.formula:
            raise ValueError("a derived figure has a formula")
        if self.status is Status.BOUNDED and (self.value is not None or not self._is_explained):
            raise ValueError("a bounded figure has bounds, and a quote or a formula, and no value")
        return self

    @property
    def _is_explained(self) -> bool:
        return bool(self.quote or self.formula)

    @property
    def range(self) -> Range:
        """Its bounds where it has any, else what rounds to the printed number."""
        if self.value is None or self.at_least is not None:
            return Range(self.value, self.at_least, self.at_most)
        half = _half_a_digit(self.value)
        return Range(self.value, self.value - half, self.value + half)

    @property
    def shown(self) -> str:
        """The number as people read it, with its unit."""
        about = "about " * self.about
        whole = "" if self.of is None else f"/{self.of}"
        return f"{self._amount(about)}{whole} {self.unit}"

    def _amount(self, about: str) -> str:
        low, high = self.at_least, self.at_most
        if self.value is not None:
            return f"{about}{self.value}"
        if low is None:
            return f"at most {about}{high}"
        return f"at least {about}{low}" if high is None else f"{about}{low} to {high}"


def formula_text(formula: Formula) -> str:
    """The formula in arithmetic, with the names of its terms."""
    return "".join(
        _MEANINGS[operation][0].format(a=a, b=b) for operation, (a, b) in formula.items()
    )


def applied(operation: Operation, a: Range, b: Range) -> Range:
    """What follows from two ranges: the corners of both bound it.

    Raises `ArithmeticError` where a term is zero that divides.
    """
    compute = _MEANINGS[operation][1]
    middle = None if a.middle is None or b.middle is None else compute(a.middle, b.middle)
    if a.low is None or b.low is None:
        return Range(middle, None, None)
    if a.high is None or b.high is None:
        low = compute(a.low, b.low) if operation in _RISING else None
        return Range(middle, low, None)
    corners = [compute(*corner) for corner in itertools.product((a.low, a.high), (b.low, b.high))]
    return Range(middle, min(corners), max(corners))


def _half_a_digit(value: Decimal) -> Decimal:
    exponent = value.as_tuple().exponent
    return Decimal(5).scaleb(int(exponent) - 1)
