"""JSON Schemas as clients send them, compiled once and applied to documents. Never fetches.

`format` is an annotation unless a policy asserts it. jsonschema decides; patterns run on RE2.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Never

from jsonschema import (
    Draft4Validator,
    Draft6Validator,
    Draft7Validator,
    Draft201909Validator,
    Draft202012Validator,
)
from jsonschema.validators import extend
from referencing import Registry, Specification
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from proxy.errors import SluicegateError
from proxy.gates.schema_accept import Acceptor, Sources, build_acceptor
from proxy.gates.schema_formats import TextFormat
from proxy.gates.schema_keywords import safe_keywords
from proxy.gates.schema_patterns import Pattern, compile_pattern
from proxy.gates.schema_references import (
    InvalidSchema,
    Schema,
    SchemaMap,
    count_subschemas,
    has_address,
    map_schema,
)
from proxy.gates.schema_run import OutOfSteps, Run
from proxy.gates.schema_violation import Violation, describe, most_telling, shorten
from proxy.wire.depth import is_deeper

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_ORIGINALS: Mapping[str, Any] = {
    "http://json-schema.org/draft-04/schema": Draft4Validator,
    "http://json-schema.org/draft-06/schema": Draft6Validator,
    "http://json-schema.org/draft-07/schema": Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": Draft201909Validator,
    _DRAFT: Draft202012Validator,
}
_SAFE: Mapping[str, Any] = {
    draft: extend(original, safe_keywords(original.VALIDATORS))  # type: ignore[no-untyped-call]
    for draft, original in _ORIGINALS.items()
}


class Undecided(SluicegateError):
    """The schema could not be applied to a document within its bounds."""


@dataclass(frozen=True, slots=True)
class SchemaBounds:
    """What an untrusted schema may cost: to compile, and in steps to apply once.

    `is_checked`: it has been held against its metaschema before, which is most of compiling.
    """

    max_bytes: int = 262_144
    max_depth: int = 64
    max_subschemas: int = 5_000
    max_patterns: int = 200
    max_steps: int = 1_000_000
    is_checked: bool = False


# A step takes some microseconds: these are about four milliseconds.
LIGHT = SchemaBounds(max_steps=1_500, is_checked=True)


@dataclass(frozen=True, slots=True)
class CompiledSchema:
    """A schema ready to be applied; `unchecked` names what RE2 cannot decide.

    The acceptor passes most documents that fit; jsonschema decides about all others.
    """

    unchecked: tuple[str, ...]
    _validator: Any
    _patterns: Mapping[str, Pattern | None]
    _tainted: frozenset[int]
    _max_steps: int
    _formats: frozenset[TextFormat]
    _acceptor: Acceptor | None = None

    def validate(self, document: Any) -> Violation | None:
        """The most telling violation, the same every time; raises `Undecided`."""
        if self._acceptor is not None and self._acceptor.accepts(document):
            return None
        run = Run(self._patterns, self._tainted, self._max_steps, self._formats)
        validator = self._validator.evolve(format_checker=run)
        try:
            error = most_telling(validator.iter_errors(document))
        except OutOfSteps as out_of_steps:
            raise Undecided("it takes too many steps") from out_of_steps
        except RecursionError as too_deep:
            raise Undecided("it is nested too deeply") from too_deep
        except (ArithmeticError, Unresolvable) as failure:
            raise Undecided("a keyword cannot be applied") from failure
        return None if error is None else describe(error)


def compile_schema(
    raw: bytes, bounds: SchemaBounds | None = None, formats: Collection[TextFormat] = ()
) -> CompiledSchema:
    """Compile a schema from its JSON text, with these formats asserted. Raises `InvalidSchema`."""
    bounds = bounds or SchemaBounds()
    asserted = frozenset(formats)
    schema = _read(raw, bounds)
    if isinstance(schema, bool):
        validator = _SAFE[_DRAFT](schema, registry=Registry())
        return CompiledSchema((), validator, {}, frozenset(), bounds.max_steps, asserted)
    draft = _draft_of(schema)

    def check(part: Any) -> None:
        if not bounds.is_checked:
            _check(part, draft)

    check(schema)
    specification: Specification[Any] = specification_with(draft)
    schema_map = map_schema(schema, specification, _keywords_of(draft), check)
    for part in schema_map.schemas.values():
        part.pop("$schema", None)  # a part that names a draft would leave our keywords
    patterns = _patterns_of(schema_map, bounds)
    tainted = schema_map.appliers_of(_holders_of_unchecked(schema_map, patterns))
    unchecked = tuple(shorten(each) for each in sorted(_unchecked(schema_map, patterns, tainted)))
    validator = _SAFE[draft](schema, registry=schema_map.registry)
    sources = Sources(_SAFE[draft].VALIDATORS.keys(), schema_map.targets, patterns, asserted)
    acceptor = _acceptor_of(schema, schema_map, sources, bounds)
    return CompiledSchema(
        unchecked, validator, patterns, tainted, bounds.max_steps, asserted, acceptor
    )


def _acceptor_of(
    root: Schema, schema_map: SchemaMap, sources: Sources, bounds: SchemaBounds
) -> Acceptor | None:
    """None also where a part has an address of its own, from which references are reckoned."""
    parts = (schema for schema in schema_map.schemas.values() if schema is not root)
    if any(map(has_address, parts)):
        return None
    return build_acceptor(root, sources, bounds.max_steps)


def _read(raw: bytes, bounds: SchemaBounds) -> Schema | bool:
    if len(raw) > bounds.max_bytes:
        raise InvalidSchema(f"the schema is larger than {bounds.max_bytes} bytes")
    try:
        schema = json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidSchema("the schema is not a JSON document") from error
    if not isinstance(schema, (bool, dict)):
        raise InvalidSchema("a schema is an object, true or false")
    if is_deeper(schema, bounds.max_depth):
        raise InvalidSchema(f"the schema is nested deeper than {bounds.max_depth} levels")
    if isinstance(schema, dict) and count_subschemas(schema) > bounds.max_subschemas:
        raise InvalidSchema(f"the schema has more than {bounds.max_subschemas} subschemas")
    return schema


def _draft_of(schema: Schema) -> str:
    """The draft that `$schema` names; any other address means 2020-12."""
    address = schema.get("$schema")
    draft = address.rstrip("#") if isinstance(address, str) else _DRAFT
    return draft if draft in _ORIGINALS else _DRAFT


def _keywords_of(draft: str) -> frozenset[str]:
    """The draft's keywords: what lies under others is no schema, whatever it looks like."""
    known = {"definitions", *_SAFE[draft].VALIDATORS}
    if "if" in known:
        known |= {"then", "else"}
    if "dependentSchemas" in known:
        known.add("$defs")
    return frozenset(known)


def _check(schema: Any, draft: str) -> None:
    """Apply the draft's metaschema, without formats: `regex` would ask for Python's dialect."""
    original = _ORIGINALS[draft]
    metaschema = original(original.META_SCHEMA, registry=Registry())
    try:
        error = most_telling(metaschema.iter_errors(schema))
    except RecursionError as too_deep:
        raise InvalidSchema("the schema is nested too deeply") from too_deep
    if error is not None:
        violation = describe(error)
        raise InvalidSchema(f"a part of the schema {violation.message}", violation.pointer)


def _patterns_of(schema_map: SchemaMap, bounds: SchemaBounds) -> dict[str, Pattern | None]:
    spelled = {
        pattern for schema in schema_map.schemas.values() for _, pattern in _spelled_in(schema)
    }
    if len(spelled) > bounds.max_patterns:
        raise InvalidSchema(f"the schema has more than {bounds.max_patterns} patterns")
    return {pattern: compile_pattern(pattern) for pattern in sorted(spelled)}


def _spelled_in(schema: Schema) -> Iterator[tuple[str, str]]:
    """The patterns of one subschema, each with its keyword."""
    if isinstance(schema.get("pattern"), str):
        yield "pattern", schema["pattern"]
    for pattern in schema.get("patternProperties", {}):
        yield "patternProperties", pattern


def _holders_of_unchecked(
    schema_map: SchemaMap, patterns: Mapping[str, Pattern | None]
) -> Iterator[int]:
    for identity, schema in schema_map.schemas.items():
        if any(patterns[pattern] is None for _, pattern in _spelled_in(schema)):
            yield identity


def _unchecked(
    schema_map: SchemaMap, patterns: Mapping[str, Pattern | None], tainted: frozenset[int]
) -> Iterator[str]:
    """What no verdict covers: patterns outside RE2 and the keywords that depend on them."""
    for identity in tainted:
        schema = schema_map.schemas[identity]
        lost = {name for name, pattern in _spelled_in(schema) if patterns[pattern] is None}
        if "patternProperties" in lost and "additionalProperties" in schema:
            lost.add("additionalProperties")
        lost |= {"unevaluatedItems", "unevaluatedProperties"} & schema.keys()
        lost |= {name for name in ("not", "if") if id(schema.get(name)) in tainted}
        if "maxContains" in schema and id(schema.get("contains")) in tainted:
            lost.add("contains")
        if any(id(branch) in tainted for branch in schema.get("oneOf", ())):
            lost.add("oneOf")
        yield from (f"{name} at {schema_map.pointers[identity] or 'the top'}" for name in lost)


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not a JSON value")
