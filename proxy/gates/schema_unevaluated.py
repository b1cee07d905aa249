"""`unevaluatedProperties` and `unevaluatedItems`, with patterns on RE2 and in linear time."""

from collections.abc import Iterator
from typing import Any

from jsonschema import ValidationError
from referencing.jsonschema import lookup_recursive_ref

from proxy.gates.schema_run import Run

REFERENCES = frozenset(("$ref", "$dynamicRef", "$recursiveRef"))


def unevaluated_properties(
    validator: Any, value: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    """Judge the members that nothing else in the schema has seen."""
    if isinstance(instance, dict):
        yield from _unevaluated(validator, "unevaluatedProperties", value, instance, schema)


def unevaluated_items(
    validator: Any, value: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    """Judge the items that nothing else in the schema has seen."""
    if isinstance(instance, list):
        yield from _unevaluated(validator, "unevaluatedItems", value, instance, schema)


def judge_extras(
    validator: Any, value: Any, instance: Any, extras: list[Any]
) -> Iterator[ValidationError]:
    """Apply a schema to members or items; a closed schema is broken once, by all of them."""
    if value is False and extras:
        yield ValidationError(", ".join(map(str, extras)))
        return
    for extra in extras:
        yield from validator.descend(instance[extra], value, extra)


def _unevaluated(
    validator: Any, keyword: str, value: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if id(schema) in validator.format_checker.tainted:
        return
    others = {name: other for name, other in schema.items() if name != keyword}
    evaluated = _evaluated(validator, instance, others)
    extras = [each for each in _places(instance) if each not in evaluated]
    yield from judge_extras(validator, value, instance, extras)


def _places(instance: Any) -> list[Any]:
    return list(instance) if isinstance(instance, dict) else list(range(len(instance)))


def _evaluated(validator: Any, instance: Any, schema: Any) -> set[Any]:
    """Keys or indexes that the schema, or one that it applies in place and that holds, has seen."""
    if not isinstance(schema, dict):
        return set()
    run: Run = validator.format_checker
    run.spend(1 + len(instance))
    seen = _seen_keys if isinstance(instance, dict) else _seen_indexes
    evaluated = seen(validator, instance, schema)
    for applied in _applied_in_place(validator, instance, schema):
        if applied.is_valid(instance):
            evaluated |= _evaluated(applied, instance, applied.schema)
    return evaluated


def _seen_keys(validator: Any, instance: dict[str, Any], schema: Any) -> set[Any]:
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        return set(instance)
    run: Run = validator.format_checker
    patterns = schema.get("patternProperties", {})
    return {
        key
        for key in instance
        if key in schema.get("properties", {}) or any(run.may_match(each, key) for each in patterns)
    }


def _seen_indexes(validator: Any, instance: list[Any], schema: Any) -> set[Any]:
    items = schema.get("items")
    if isinstance(items, (bool, dict)) or "unevaluatedItems" in schema:
        return set(_places(instance))
    if "prefixItems" not in validator.VALIDATORS:  # the draft before it: `contains` sees nothing
        sees_all = items is not None and "additionalItems" in schema
        return set(_places(instance) if sees_all else range(len(items or ())))
    seen = set(range(len(schema.get("prefixItems", ()))))
    if "contains" in schema:
        contains = validator.evolve(schema=schema["contains"])
        seen |= {index for index, item in enumerate(instance) if contains.is_valid(item)}
    return seen


def _applied_in_place(validator: Any, instance: Any, schema: Any) -> Iterator[Any]:
    resolver = validator._resolver  # noqa: SLF001 - a keyword has no public way to it
    for keyword in validator.VALIDATORS.keys() & schema.keys() & REFERENCES:
        recursive = keyword == "$recursiveRef"
        resolved = lookup_recursive_ref(resolver) if recursive else resolver.lookup(schema[keyword])
        yield validator.evolve(schema=resolved.contents, _resolver=resolved.resolver)
    applied = [each for name in ("allOf", "anyOf", "oneOf") for each in schema.get(name, ())]
    dependent = schema.get("dependentSchemas", {})
    applied += [each for key, each in dependent.items() if key in instance]
    if "if" in schema:
        holds = validator.evolve(schema=schema["if"]).is_valid(instance)
        applied += [schema["if"], schema.get("then", True)] if holds else [schema.get("else", True)]
    for each in applied:
        yield validator.evolve(schema=each)
