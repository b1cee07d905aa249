"""Says of a document that it certainly fits its schema, many times faster than jsonschema.

That is all it says: where it does not, jsonschema decides and words the violation. It knows the
keywords that are common in practice; a schema that uses another one gets no acceptor.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from proxy.gates.schema_check import (
    ANYTHING,
    KINDS,
    NOTHING,
    NUMBERS,
    Check,
    Declined,
    Fits,
    Steps,
    Unsure,
    by_kind,
)
from proxy.gates.schema_check_parts import (
    ARRAY_KEYWORDS,
    OBJECT_KEYWORDS,
    array_checks,
    object_checks,
)
from proxy.gates.schema_check_scalars import (
    NUMBER_KEYWORDS,
    kinds_of,
    member_of,
    number_checks,
    whole,
)
from proxy.gates.schema_check_texts import TEXT_KEYWORDS, text_checks
from proxy.gates.schema_check_unions import all_of, any_of, either, none_of, one_of
from proxy.gates.schema_formats import TextFormat
from proxy.gates.schema_patterns import Pattern
from proxy.gates.schema_run import OutOfSteps

_OF_ANY: Final = frozenset(("$ref", "allOf", "anyOf", "const", "enum", "if", "not", "oneOf"))
COVERED: Final = (
    _OF_ANY | NUMBER_KEYWORDS | TEXT_KEYWORDS | ARRAY_KEYWORDS | OBJECT_KEYWORDS | {"type"}
)
_FLOATS: Final[frozenset[type]] = frozenset((float,))
_TEXTS: Final[frozenset[type]] = frozenset((str,))
_ARRAYS: Final[frozenset[type]] = frozenset((list,))
_OBJECTS: Final[frozenset[type]] = frozenset((dict,))
_Parts: TypeAlias = list[tuple[frozenset[type], list[Fits]]]


@dataclass(frozen=True, slots=True)
class Sources:
    """What the text of a schema does not say: its draft's keywords, where references lead.

    `targets` go by the identity of the schema that holds the `$ref`.
    """

    keywords: AbstractSet[str]
    targets: Mapping[int, Any]
    patterns: Mapping[str, Pattern | None]
    formats: Collection[TextFormat]


@dataclass(frozen=True, slots=True)
class Acceptor:
    """The fast judge of one schema, which may take so many steps with each document."""

    _fits: Fits
    _max_steps: int

    def accepts(self, document: Any) -> bool:
        """Whether a document that was read from JSON certainly fits; False says nothing."""
        try:
            return self._fits([document], Steps(self._max_steps))
        except (Unsure, OutOfSteps, RecursionError, ArithmeticError):
            return False


def build_acceptor(schema: Any, sources: Sources, max_steps: int) -> Acceptor | None:
    """None where only jsonschema can say what the schema means."""
    try:
        return Acceptor(_Builder(sources).check_of(schema).fits, max_steps)
    except (Declined, RecursionError):
        return None


class _Later:
    """Stands for the check of a schema that refers to itself until that one is built."""

    def __init__(self) -> None:
        self.built = ANYTHING.fits

    def fits(self, values: list[Any], steps: Steps) -> bool:
        return self.built(values, steps)


class _Builder:
    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._has_integral_floats = "const" in sources.keywords  # since draft 6
        self._has_siblings = "dependentRequired" in sources.keywords  # of $ref, since 2019-09
        self._checks: dict[int, Check] = {}
        self._begun: set[int] = set()
        self._laters: defaultdict[int, _Later] = defaultdict(_Later)

    def check_of(self, schema: Any) -> Check:
        """The check of a schema, built once. Raises `Declined`."""
        if isinstance(schema, bool):
            return ANYTHING if schema else NOTHING
        if not isinstance(schema, dict):
            raise Declined("no schema")
        known = self._checks.get(id(schema))
        if known is not None:
            return known
        if id(schema) in self._begun:
            return Check(self._laters[id(schema)].fits)
        self._begun.add(id(schema))
        built = self._checks[id(schema)] = self._build(schema)
        if id(schema) in self._laters:
            self._laters[id(schema)].built = built.fits
        return built

    def _build(self, schema: Mapping[str, Any]) -> Check:
        if schema.get("$ref") is not None and not self._has_siblings:
            return self._target(schema)
        used = self._sources.keywords & schema.keys()
        if not used <= COVERED:
            raise Declined("a keyword that is not covered")
        kinds, parts = self._parts(schema, used)
        everywhere = [*self._everywhere(schema, used)] if used & _OF_ANY else []
        for check in everywhere:
            kinds &= check.kinds
        parts = [(part, fits) for part, fits in parts if fits and kinds & part]
        if not parts and not everywhere:
            return by_kind(kinds)
        if not parts and len(everywhere) == 1 and kinds == everywhere[0].kinds:
            return everywhere[0]
        return Check(partial(_node, kinds, parts, [check.fits for check in everywhere]), kinds)

    def _parts(
        self, schema: Mapping[str, Any], used: AbstractSet[str]
    ) -> tuple[frozenset[type], _Parts]:
        """The kinds that `type` allows, and what is demanded of some kinds only."""
        kinds = kinds_of(schema["type"]) if "type" in used else KINDS
        patterns = self._sources.patterns
        lists_apart = "prefixItems" in self._sources.keywords
        parts: _Parts = []
        if int in kinds and float not in kinds and self._has_integral_floats:
            kinds |= _FLOATS
            parts.append((_FLOATS, [whole]))
        if used & NUMBER_KEYWORDS:
            parts.append((NUMBERS, [*number_checks(schema, used)]))
        if used & TEXT_KEYWORDS:
            demands = text_checks(schema, used, patterns, self._sources.formats)
            parts.append((_TEXTS, [*demands]))
        if used & ARRAY_KEYWORDS:
            demands = array_checks(schema, used, self.check_of, lists_apart=lists_apart)
            parts.append((_ARRAYS, [*demands]))
        if used & OBJECT_KEYWORDS:
            parts.append((_OBJECTS, [*object_checks(schema, used, patterns, self.check_of)]))
        return kinds, parts

    def _everywhere(self, schema: Mapping[str, Any], used: AbstractSet[str]) -> Iterator[Check]:
        """What is demanded of a value of any kind."""
        if "$ref" in used:
            yield self._target(schema)
        if "enum" in used:
            yield member_of(schema["enum"])
        if "const" in used:
            yield member_of([schema["const"]])
        for keyword, combined in (("allOf", all_of), ("anyOf", any_of), ("oneOf", one_of)):
            if keyword in used:
                yield combined([self.check_of(each) for each in _listed(schema[keyword])])
        if "not" in used:
            yield none_of(self.check_of(schema["not"]))
        if "if" in used:
            then, otherwise = schema.get("then", True), schema.get("else", True)
            yield either(*map(self.check_of, (schema["if"], then, otherwise)))

    def _target(self, schema: Mapping[str, Any]) -> Check:
        return self.check_of(self._sources.targets[id(schema)])


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Declined("no list of schemas")
    return value


def _node(
    kinds: frozenset[type], parts: _Parts, everywhere: list[Fits], values: list[Any], steps: Steps
) -> bool:
    """All demands of one schema."""
    if not values:
        return True
    steps.spend(len(values))
    found = set(map(type, values))
    if not found <= kinds:
        return False
    for part, demands in parts:
        if found.isdisjoint(part):
            continue
        chosen = values if found <= part else [each for each in values if type(each) in part]
        for fit in demands:
            if not fit(chosen, steps):
                return False
    return all(fit(values, steps) for fit in everywhere)
