"""The keywords of jsonschema that must be safe on untrusted schemas: our versions of them.

Patterns run on RE2, `uniqueItems` in linear time, and every keyword spends from a bounded number
of steps, since a small schema can ask for endless work. A pattern that RE2 lacks counts as
matched, so keywords that an unchecked pattern could make fail are unchecked too.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jsonschema import FormatChecker, ValidationError
from referencing.jsonschema import lookup_recursive_ref
from typing_extensions import override

from proxy.gates.schema_patterns import Pattern

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]

_REFERENCES = frozenset(("$ref", "$dynamicRef", "$recursiveRef"))
_REFERENCE_COST = 8
_ERROR_COST = 32
_CHARACTERS_PER_STEP = 256
_PAIRS_PER_STEP = 100


class OutOfSteps(Exception):
    """Applying the schema to this document takes more work than allowed."""


class Run(FormatChecker):
    """One validation: its patterns, what an unchecked pattern taints, and the steps left.

    It rides in the validator's `format_checker`, the one public field that reaches every
    subschema; formats themselves are annotations and never checked.
    """

    def __init__(
        self, patterns: Mapping[str, Pattern | None], tainted: frozenset[int], steps: int
    ) -> None:
        super().__init__(formats=())
        self.tainted = tainted
        self._patterns = patterns
        self._steps = steps

    @override
    def check(self, instance: object, format: str) -> None:
        return

    def spend(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise OutOfSteps

    def may_match(self, pattern: str, text: str) -> bool:
        """Whether the pattern matches, or cannot be checked."""
        self.spend(1 + len(text) // _CHARACTERS_PER_STEP)
        compiled = self._patterns.get(pattern)
        return compiled is None or compiled.search(text) is not None

    def is_checked(self, pattern: str) -> bool:
        return self._patterns.get(pattern) is not None


def safe_keywords(originals: Mapping[str, Keyword]) -> dict[str, Keyword]:
    """A draft's keywords, with ours in place of those that are not safe."""
    chosen = {
        **originals,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
        "unevaluatedProperties": _unevaluated_properties,
    }
    for name, guard in (
        ("not", _not_tainted),
        ("if", _not_tainted),
        ("contains", _contains_unless_tainted),
        ("unevaluatedItems", _unevaluated_items),
    ):
        if name in originals:
            chosen[name] = guard(originals[name])
    chosen["oneOf"] = _one_of(originals["oneOf"], originals["anyOf"])
    return {
        name: _counted(chosen[name], _REFERENCE_COST if name in _REFERENCES else 1)
        for name in originals
    }


def _counted(keyword: Keyword, cost: int) -> Keyword:
    def counted(
        validator: Any, value: Any, instance: Any, schema: Any
    ) -> Iterator[ValidationError]:
        run: Run = validator.format_checker
        run.spend(cost + (len(value) if isinstance(value, (dict, list)) else 0))
        for error in keyword(validator, value, instance, schema) or ():
            run.spend(_ERROR_COST + len(error.message) // _CHARACTERS_PER_STEP)
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
    yield from _judge_extras(validator, value, instance, extras)


def _unique_items(validator: Any, value: Any, instance: Any, _: Any) -> Iterator[ValidationError]:
    if value and isinstance(instance, list):
        validator.format_checker.spend(len(instance))
        if len({_hashable(item) for item in instance}) != len(instance):
            yield ValidationError("has equal items")


def _hashable(value: Any) -> object:
    """Equal for equal JSON values: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, bool):
        return (bool, value)
    if isinstance(value, list):
        return (list, tuple(_hashable(item) for item in value))
    if isinstance(value, dict):
        return (dict, frozenset((key, _hashable(member)) for key, member in value.items()))
    return value


def _unevaluated_items(original: Keyword) -> Keyword:
    def unevaluated_items(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        if isinstance(instance, list):  # the original compares each item with each
            validator.format_checker.spend(len(instance) ** 2 // _PAIRS_PER_STEP)
        return original(validator, value, instance, schema)

    return unevaluated_items


def _unevaluated_properties(
    validator: Any, value: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    others = {name: other for name, other in schema.items() if name != "unevaluatedProperties"}
    evaluated = _evaluated_keys(validator, instance, others)
    extras = [key for key in instance if key not in evaluated]
    yield from _judge_extras(validator, value, instance, extras)


def _judge_extras(
    validator: Any, value: Any, instance: dict[str, Any], extras: list[str]
) -> Iterator[ValidationError]:
    if value is False and extras:
        yield ValidationError(", ".join(extras))
        return
    for key in extras:
        yield from validator.descend(instance[key], value, key)


def _evaluated_keys(validator: Any, instance: dict[str, Any], schema: Any) -> set[str]:
    if not isinstance(schema, dict):
        return set()
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        return set(instance)
    run: Run = validator.format_checker
    patterns = schema.get("patternProperties", {})
    evaluated = {key for key in instance if key in schema.get("properties", {})}
    evaluated |= {key for key in instance if any(run.may_match(each, key) for each in patterns)}
    for applied in _applied_in_place(validator, instance, schema):
        if applied.is_valid(instance):
            evaluated |= _evaluated_keys(applied, instance, applied.schema)
    return evaluated


def _applied_in_place(validator: Any, instance: dict[str, Any], schema: Any) -> Iterator[Any]:
    resolver = validator._resolver  # noqa: SLF001 - a keyword has no public way to it
    for keyword in validator.VALIDATORS.keys() & schema.keys() & _REFERENCES:
        reference = schema[keyword]
        recursive = keyword == "$recursiveRef"
        resolved = lookup_recursive_ref(resolver) if recursive else resolver.lookup(reference)
        yield validator.evolve(schema=resolved.contents, _resolver=resolved.resolver)
    applied = [each for name in ("allOf", "anyOf", "oneOf") for each in schema.get(name, ())]
    dependent = schema.get("dependentSchemas", {})
    applied += [each for key, each in dependent.items() if key in instance]
    if "if" in schema:
        holds = validator.evolve(schema=schema["if"]).is_valid(instance)
        applied += [schema["if"], schema.get("then", True)] if holds else [schema.get("else", True)]
    for each in applied:
        yield validator.evolve(schema=each)


def _not_tainted(original: Keyword) -> Keyword:
    def keyword(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        if id(value) in validator.format_checker.tainted:
            return None
        return original(validator, value, instance, schema)

    return keyword


def _contains_unless_tainted(original: Keyword) -> Keyword:
    def contains(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        if "maxContains" in schema and id(value) in validator.format_checker.tainted:
            return None
        return original(validator, value, instance, schema)

    return contains


def _one_of(original: Keyword, any_of: Keyword) -> Keyword:
    """With an unchecked branch only "at least one" can be decided."""

    def one_of(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        tainted = validator.format_checker.tainted
        keyword = any_of if any(id(branch) in tainted for branch in value) else original
        return keyword(validator, value, instance, schema)

    return one_of
