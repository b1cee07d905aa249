"""The keywords of jsonschema that must be safe on untrusted schemas: our versions of them.

Patterns run on RE2, comparisons in linear time, and every keyword spends from a bounded number of
steps, since a small schema can ask for endless work. A pattern that RE2 lacks counts as matched,
so keywords that an unchecked pattern could make fail are unchecked too.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jsonschema import ValidationError

from proxy.gates.schema_run import Run
from proxy.gates.schema_unevaluated import (
    REFERENCES,
    judge_extras,
    unevaluated_items,
    unevaluated_properties,
)

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]

_STEPS_PER_REFERENCE = 8
_STEPS_PER_ERROR = 32
_GOES_THROUGH_MEMBERS = frozenset(
    ("additionalItems", "additionalProperties", "contains", "items", "propertyNames")
)


def safe_keywords(originals: Mapping[str, Keyword]) -> dict[str, Keyword]:
    """A draft's keywords, with ours in place of those that are not safe."""
    chosen = {
        **originals,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "const": _const,
        "enum": _enum,
        "uniqueItems": _unique_items,
        "unevaluatedItems": unevaluated_items,
        "unevaluatedProperties": unevaluated_properties,
        "not": _unless_tainted(originals["not"]),
        "oneOf": _one_of(originals["oneOf"], originals["anyOf"]),
    }
    if "if" in originals:
        chosen["if"] = _unless_tainted(originals["if"])
    if "additionalItems" in originals:
        chosen["additionalItems"] = _additional_items(originals["additionalItems"])
    if "contains" in originals:
        chosen["contains"] = _contains(originals["contains"])
    return {name: _counted(name, chosen[name]) for name in originals}


def _counted(name: str, keyword: Keyword) -> Keyword:
    cost = _STEPS_PER_REFERENCE if name in REFERENCES else 1
    through_members = name in _GOES_THROUGH_MEMBERS

    def counted(
        validator: Any, value: Any, instance: Any, schema: Any
    ) -> Iterator[ValidationError]:
        run: Run = validator.format_checker
        run.spend(cost + (len(value) if isinstance(value, (dict, list)) else 0))
        if through_members and isinstance(instance, (dict, list)):
            run.spend(len(instance))
        for error in keyword(validator, value, instance, schema) or ():
            run.spend(_STEPS_PER_ERROR)
            run.spend_on_text(error.message)
            yield error

    return counted


def _pattern(validator: Any, value: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not validator.format_checker.may_match(value, instance):
        yield ValidationError("does not match the pattern")


def _pattern_properties(
    validator: Any, value: Any, instance: Any, _: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    run: Run = validator.format_checker
    for pattern, subschema in value.items():
        if run.is_checked(pattern):
            for key, member in instance.items():
                if run.may_match(pattern, key):
                    yield from validator.descend(member, subschema, key, pattern)


def _additional_properties(
    validator: Any, value: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    run: Run = validator.format_checker
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    extras = [
        key
        for key in instance
        if key not in known and not any(run.may_match(pattern, key) for pattern in patterns)
    ]
    yield from judge_extras(validator, value, instance, extras)


def _const(validator: Any, value: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    run: Run = validator.format_checker
    if _hashable(instance, run) != _hashable(value, run):
        yield ValidationError("is another value")


def _enum(validator: Any, value: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    run: Run = validator.format_checker
    found = _hashable(instance, run)
    if not any(found == _hashable(each, run) for each in value):
        yield ValidationError("is no member")


def _unique_items(validator: Any, value: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if value and isinstance(instance, list):
        run: Run = validator.format_checker
        if len({_hashable(item, run) for item in instance}) != len(instance):
            yield ValidationError("has equal items")


def _hashable(value: Any, run: Run) -> object:
    """Equal for equal JSON values: 1 and 1.0 are, 1 and true are not."""
    run.spend(1)
    if isinstance(value, bool):
        return (bool, value)
    if isinstance(value, list):
        return (list, tuple(_hashable(item, run) for item in value))
    if isinstance(value, dict):
        return (dict, frozenset((key, _hashable(member, run)) for key, member in value.items()))
    return value


def _unless_tainted(original: Keyword) -> Keyword:
    def keyword(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        if id(value) in validator.format_checker.tainted:
            return None
        return original(validator, value, instance, schema)

    return keyword


def _contains(original: Keyword) -> Keyword:
    """With an unchecked pattern inside only "at least" can be decided."""

    def contains(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        if "maxContains" in schema and id(value) in validator.format_checker.tainted:
            return None
        return original(validator, value, instance, schema)

    return contains


def _additional_items(original: Keyword) -> Keyword:
    """They come after items that are listed; jsonschema stumbles over `items: true`."""

    def additional_items(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        if not isinstance(schema.get("items"), list):
            return None
        return original(validator, value, instance, schema)

    return additional_items


def _one_of(original: Keyword, any_of: Keyword) -> Keyword:
    """With an unchecked pattern inside only "at least one" can be decided."""

    def one_of(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        tainted = validator.format_checker.tainted
        keyword = any_of if any(id(branch) in tainted for branch in value) else original
        return keyword(validator, value, instance, schema)

    return one_of
