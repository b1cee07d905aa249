"""Checks of single values: kinds, numbers, enumerations, items that differ.

Each says exactly what jsonschema's keyword of that name says; what cannot be said so is declined.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import Any, Final

from proxy.gates.schema_check import (
    KINDS,
    NULL,
    NUMBERS,
    VALUES_PER_STEP,
    Check,
    Declined,
    Fits,
    Steps,
    Unsure,
)

NUMBER_KEYWORDS: Final = frozenset(
    ("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf")
)
_SCALARS: Final = KINDS - {list, dict}
_KINDS_OF: Final[Mapping[str, frozenset[type]]] = {
    "null": frozenset((NULL,)),
    "boolean": frozenset((bool,)),
    "integer": frozenset((int,)),
    "number": NUMBERS,
    "string": frozenset((str,)),
    "array": frozenset((list,)),
    "object": frozenset((dict,)),
}


def kinds_of(types: Any) -> frozenset[type]:
    """The kinds that a `type` names, leaving out floats that are integers."""
    if isinstance(types, str) and types in _KINDS_OF:
        return _KINDS_OF[types]
    names = types if isinstance(types, list) else [types]
    if not all(isinstance(name, str) and name in _KINDS_OF for name in names):
        raise Declined("a type of another dialect")
    return frozenset().union(*(_KINDS_OF[name] for name in names))


def whole(floats: list[Any], _: Steps) -> bool:
    return all(map(float.is_integer, floats))


def number(value: Any) -> int | float:
    """A keyword's value that must be a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Declined("no number")
    return value


def number_checks(schema: Mapping[str, Any], used: AbstractSet[str]) -> Iterator[Fits]:
    """Bounds and multiples; in draft 4 a flag beside a bound excludes it."""
    for keyword in used & {"minimum", "exclusiveMinimum"}:
        is_excluded = keyword != "minimum" or _excludes(schema, used, "exclusiveMinimum")
        yield _above(number(schema[keyword]), is_excluded=is_excluded)
    for keyword in used & {"maximum", "exclusiveMaximum"}:
        is_excluded = keyword != "maximum" or _excludes(schema, used, "exclusiveMaximum")
        yield _below(number(schema[keyword]), is_excluded=is_excluded)
    if "multipleOf" in used:
        yield _multiples(number(schema["multipleOf"]))


def _excludes(schema: Mapping[str, Any], used: AbstractSet[str], flag: str) -> bool:
    return flag not in used and bool(schema.get(flag, False))


def _above(bound: float, *, is_excluded: bool) -> Fits:
    if is_excluded:
        return lambda numbers, _: min(numbers) > bound
    return lambda numbers, _: min(numbers) >= bound


def _below(bound: float, *, is_excluded: bool) -> Fits:
    if is_excluded:
        return lambda numbers, _: max(numbers) < bound
    return lambda numbers, _: max(numbers) <= bound


def _multiples(divisor: float) -> Fits:
    """Divided as jsonschema divides: by a float as floats, unless the quotient is infinite."""
    if isinstance(divisor, int):
        return lambda numbers, _: not any(each % divisor for each in numbers)

    def fits(numbers: list[Any], steps: Steps) -> bool:
        steps.spend(len(numbers) * VALUES_PER_STEP)
        return all(_is_multiple(each, divisor) for each in numbers)

    return fits


def _is_multiple(dividend: float, divisor: float) -> bool:
    quotient = dividend / divisor
    try:
        return int(quotient) == quotient
    except OverflowError:
        return (Fraction(dividend) / Fraction(divisor)).denominator == 1


def member_of(members: Any) -> Check:
    """`enum`, and `const` as an enumeration of one."""
    if not isinstance(members, list) or not _SCALARS.issuperset(map(type, members)):
        raise Declined("an enumeration of arrays or objects")
    kinds = frozenset(map(type, members))
    kinds |= NUMBERS if kinds & NUMBERS else frozenset()
    apart = _told_apart if bool in kinds else list
    allowed = frozenset(apart(members))

    def fits(values: list[Any], steps: Steps) -> bool:
        steps.spend(len(values))
        return kinds.issuperset(map(type, values)) and allowed.issuperset(apart(values))

    return Check(fits, kinds)


def unique(arrays: list[Any], steps: Steps) -> bool:
    """Whether no array repeats a scalar. Raises `Unsure` for arrays of arrays or objects."""
    for array in arrays:
        steps.spend(len(array))
        kinds = frozenset(map(type, array))
        if not kinds <= _SCALARS:
            raise Unsure("containers are not compared here")
        if len(set(_told_apart(array) if bool in kinds else array)) != len(array):
            return False
    return True


def _told_apart(values: Sequence[Any]) -> list[tuple[bool, Any]]:
    """1 and 1.0 are equal, 1 and true are not."""
    return [(type(value) is bool, value) for value in values]
