"""Checks of objects and arrays: their members and items, each place as one column of values."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any, Final, TypeAlias

from proxy.gates.schema_check import ANYTHING, Check, Declined, Fits, Steps
from proxy.gates.schema_check_scalars import unique
from proxy.gates.schema_check_texts import checked_pattern, length_checks
from proxy.gates.schema_patterns import Pattern

ARRAY_KEYWORDS: Final = frozenset(
    ("additionalItems", "items", "maxItems", "minItems", "prefixItems", "uniqueItems")
)
OBJECT_KEYWORDS: Final = frozenset(
    ("additionalProperties", "maxProperties", "minProperties", "patternProperties", "properties")
) | {"propertyNames", "required"}
CheckOf: TypeAlias = Callable[[Any], Check]

_FEW: Final = 16  # members that it is cheaper to look for than to ask which of them are there


def object_checks(
    schema: Mapping[str, Any],
    used: Collection[str],
    patterns: Mapping[str, Pattern | None],
    check_of: CheckOf,
) -> Iterator[Fits]:
    yield from length_checks(schema, used, "Properties")
    properties = _mapping(schema.get("properties", {}))
    required = dict.fromkeys(_names(schema.get("required", [])))
    if required:
        checks = ((name, check_of(properties.get(name, True))) for name in required)
        yield partial(_all_have, [(itemgetter(name), check.fits) for name, check in checks])
    optional = {
        name: check_of(each).fits for name, each in properties.items() if name not in required
    }
    if optional:
        yield partial(_some_have, optional)
    by_pattern = [
        (checked_pattern(pattern, patterns), check_of(each).fits)
        for pattern, each in _mapping(schema.get("patternProperties", {})).items()
    ]
    rest = check_of(schema.get("additionalProperties", True))
    if not by_pattern and not rest.kinds:
        yield partial(_closed, properties)
    elif by_pattern or rest is not ANYTHING:
        yield partial(_extras, properties, by_pattern, rest.fits)
    if "propertyNames" in used:
        yield partial(_all_names, check_of(schema["propertyNames"]).fits)


def _all_have(
    columns: list[tuple[Callable[[Any], Any], Fits]], objects: list[Any], steps: Steps
) -> bool:
    steps.spend(len(objects) * len(columns))
    for member, fits in columns:
        try:
            column = [*map(member, objects)]
        except KeyError:  # one has no such member
            return False
        if not fits(column, steps):
            return False
    return True


def _some_have(optional: Mapping[str, Fits], objects: list[Any], steps: Steps) -> bool:
    names: Collection[str] = optional
    if len(optional) > _FEW:
        steps.spend(sum(map(len, objects)))
        names = optional.keys() & set(chain.from_iterable(objects))
    steps.spend(len(objects) * len(names))
    for name in names:
        column = [each[name] for each in objects if name in each]
        if column and not optional[name](column, steps):
            return False
    return True


def _closed(known: Mapping[str, Any], objects: list[Any], steps: Steps) -> bool:
    steps.spend(sum(map(len, objects)))
    return all(map(known.__contains__, chain.from_iterable(objects)))


def _extras(
    known: Mapping[str, Any],
    by_pattern: list[tuple[Pattern, Fits]],
    fits_rest: Fits,
    objects: list[Any],
    steps: Steps,
) -> bool:
    """`patternProperties`, and `additionalProperties` for what neither these nor names cover."""
    steps.spend(sum(map(len, objects)))
    names = set(chain.from_iterable(objects))
    others = names - known.keys()
    for pattern, fits in by_pattern:
        steps.spend_on_texts(names)
        found = {name for name in names if pattern.search(name)}
        others -= found
        if found and not fits(_members_named(found, objects, steps), steps):
            return False
    return not others or fits_rest(_members_named(others, objects, steps), steps)


def _members_named(names: Collection[str], objects: list[Any], steps: Steps) -> list[Any]:
    steps.spend(sum(map(len, objects)))
    return [member for each in objects for name, member in each.items() if name in names]


def _all_names(fits: Fits, objects: list[Any], steps: Steps) -> bool:
    steps.spend(sum(map(len, objects)))
    return fits(list(chain.from_iterable(objects)), steps)


def array_checks(
    schema: Mapping[str, Any], used: Collection[str], check_of: CheckOf, *, lists_apart: bool
) -> Iterator[Fits]:
    """`lists_apart`: the draft lists leading items under `prefixItems`, not `items`."""
    yield from length_checks(schema, used, "Items")
    listed, rest = _items(schema, lists_apart=lists_apart)
    leading = [check_of(each).fits for each in listed]
    further = check_of(rest)
    if leading or further is not ANYTHING:
        yield partial(_each_item, leading, further.fits)
    if "uniqueItems" in used and schema["uniqueItems"]:
        yield unique


def _items(schema: Mapping[str, Any], *, lists_apart: bool) -> tuple[list[Any], Any]:
    """Schemas of the leading items, and the one of all further ones."""
    items = schema.get("items", True)
    listed = schema.get("prefixItems", []) if lists_apart else items
    if lists_apart:
        rest = items
    elif isinstance(items, list):
        rest = schema.get("additionalItems", True)
    else:
        listed, rest = [], items
    if not isinstance(listed, list):
        raise Declined("no list of schemas")
    return listed, rest


def _each_item(leading: list[Fits], fits_further: Fits, arrays: list[Any], steps: Steps) -> bool:
    begin = len(leading)
    steps.spend(len(arrays) * begin)
    for position, fit in enumerate(leading):
        if not fit([each[position] for each in arrays if len(each) > position], steps):
            return False
    further = (each[begin:] for each in arrays) if begin else arrays
    return fits_further(list(chain.from_iterable(further)), steps)


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Declined("no object of schemas")
    return value


def _names(value: Any) -> list[str]:
    if not isinstance(value, list) or not {str}.issuperset(map(type, value)):
        raise Declined("no list of names")
    return value
