"""What a check is: it says at once of many values whether all of them fit one schema.

Values are judged in columns, all values of one place together, since the interpreter is quick
where one call in C sees many values. A value is exactly what JSON makes of it: `type` tells the
kinds apart, so `True` is no number.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from proxy.gates.schema_run import OutOfSteps

Fits: TypeAlias = "Callable[[list[Any], Steps], bool]"

NULL: Final = type(None)
KINDS: Final[frozenset[type]] = frozenset((dict, list, str, int, float, bool, NULL))
NUMBERS: Final[frozenset[type]] = frozenset((int, float))
VALUES_PER_STEP: Final = 16
CHARACTERS_PER_VALUE: Final = 16


class Declined(Exception):
    """The schema says something that a check cannot decide exactly as jsonschema does."""


class Unsure(Exception):
    """A check cannot decide about these values."""


class Steps:
    """The steps that checking one document may take; a step is about a microsecond."""

    __slots__ = ("_left",)

    def __init__(self, steps: int) -> None:
        self._left = steps * VALUES_PER_STEP

    def spend(self, values: int) -> None:
        """Pay one step, and more for a pass over many values. Raises `OutOfSteps`."""
        self._left -= values + VALUES_PER_STEP
        if self._left < 0:
            raise OutOfSteps

    def spend_on_texts(self, texts: Collection[str]) -> None:
        """Pay a step for each, and more for long ones. Raises `OutOfSteps`."""
        self.spend(len(texts) * VALUES_PER_STEP + sum(map(len, texts)) // CHARACTERS_PER_VALUE)


@dataclass(frozen=True, slots=True)
class Check:
    """`fits` tells whether all values fit; raises `Unsure`, `OutOfSteps`, `ArithmeticError`.

    False means that one of them certainly does not. None of another kind than `kinds` fits;
    `is_by_kind`: all of these kinds do.
    """

    fits: Fits
    kinds: frozenset[type] = KINDS
    is_by_kind: bool = False


@cache
def by_kind(kinds: frozenset[type]) -> Check:
    """The check that looks at the kind of a value alone."""

    def fits(values: list[Any], steps: Steps) -> bool:
        steps.spend(len(values))
        return kinds.issuperset(map(type, values))

    return Check(fits, kinds, is_by_kind=True)


ANYTHING: Final = by_kind(KINDS)
NOTHING: Final = by_kind(frozenset())
