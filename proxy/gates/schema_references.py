"""Walks an untrusted JSON Schema: every subschema, every reference, nothing outside the document.

Knows no validation; it says where subschemas are and which apply where.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from graphlib import CycleError, TopologicalSorter
from typing import Any

from referencing import Registry, Resource, Specification
from referencing.exceptions import Unresolvable

from proxy.errors import SluicegateError
from proxy.gates.schema_violation import LONGEST_POINTER, escape, shorten

_IN_PLACE = frozenset(
    ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
)
_STORED = frozenset(("$defs", "definitions"))
_ONE = frozenset(("else", "if", "not", "then", "contains", "contentSchema", "items")) | {
    "additionalItems",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
}
_LISTED = frozenset(("allOf", "anyOf", "items", "oneOf", "prefixItems"))
_NAMED = _STORED | {"dependencies", "dependentSchemas", "patternProperties", "properties"}
_ALL = _ONE | _LISTED | _NAMED
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

Schema = dict[str, Any]


class InvalidSchema(SluicegateError):
    """A client's schema that cannot be used; `pointer` is the JSON pointer of the culprit."""

    def __init__(self, message: str, pointer: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.pointer = shorten(pointer, LONGEST_POINTER)


class Applies(Enum):
    """What a subschema applies to: the same value, a part of it, or nothing until referred to."""

    IN_PLACE = auto()
    TO_PART = auto()
    NOWHERE = auto()


@dataclass(slots=True)
class SchemaMap:
    """Subschemas by identity: where each is, which others it applies, where its `$ref` leads."""

    registry: Registry[Any]
    pointers: dict[int, str] = field(default_factory=dict)
    schemas: dict[int, Schema] = field(default_factory=dict)
    in_place: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    appliers: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    targets: dict[int, Schema | bool] = field(default_factory=dict)

    def link(self, schema: Schema, applied: Schema, applies: Applies) -> None:
        if applies is not Applies.NOWHERE:
            self.appliers[id(applied)].add(id(schema))
        if applies is Applies.IN_PLACE:
            self.in_place[id(schema)].add(id(applied))

    def appliers_of(self, schemas: Iterable[int]) -> frozenset[int]:
        """These subschemas and all that apply one of them, however indirectly."""
        reached = set(schemas)
        queue = deque(reached)
        while queue:
            new = self.appliers[queue.popleft()] - reached
            reached |= new
            queue.extend(new)
        return frozenset(reached)


def subschemas(
    schema: Schema, keywords: Collection[str] = _ALL
) -> Iterator[tuple[Applies, str, Schema]]:
    """The subschemas directly within, each with its relative pointer; booleans are left out.

    Under a keyword that is not among these lies anything at all.
    """
    for keyword, value in schema.items():
        if keyword not in keywords:
            continue
        applies = Applies.TO_PART
        if keyword in _IN_PLACE:
            applies = Applies.IN_PLACE
        elif keyword in _STORED:
            applies = Applies.NOWHERE
        for name, child in _children(keyword, value):
            if isinstance(child, dict):
                yield applies, f"/{escape(keyword)}{name}", child


def _children(keyword: str, value: Any) -> Iterator[tuple[str, Any]]:
    if keyword in _LISTED and isinstance(value, list):
        yield from ((f"/{index}", child) for index, child in enumerate(value))
    elif keyword in _NAMED and isinstance(value, dict):
        yield from ((f"/{escape(name)}", child) for name, child in value.items())
    elif keyword in _ONE:
        yield "", value


def has_address(schema: Schema) -> bool:
    """Whether references within may be reckoned from an address of the schema's own."""
    return "$id" in schema or "id" in schema


def count_subschemas(root: Schema) -> int:
    """How many subschemas there are, the root included, before any reference is followed."""
    count = 0
    queue = [root]
    while queue:
        count += 1
        queue.extend(child for _, _, child in subschemas(queue.pop()))
    return count


def map_schema(
    root: Schema,
    specification: Specification[Any],
    keywords: Collection[str],
    check: Callable[[Any], None],
) -> SchemaMap:
    """Map a schema that is valid for its draft, which knows these keywords.

    `check` is called on targets of references that lie where no keyword expects a schema. Raises
    `InvalidSchema` for references that leave the document, lead nowhere or in a circle.
    """
    resource = specification.create_resource(root)
    schema_map = SchemaMap(_registry_of(resource))
    walk = _Walk(schema_map, specification, keywords)
    walk.visit("", root, schema_map.registry.resolver_with_root(resource))
    while walk.references:
        pointer, schema, keyword, resolver = walk.references.popleft()
        target, resolver = _resolve(schema[keyword], resolver, pointer)
        if keyword == "$ref":
            schema_map.targets[id(schema)] = target
        if isinstance(target, bool):
            continue
        if id(target) not in schema_map.pointers:
            check(target)
            walk.visit(schema[keyword], target, resolver)
        schema_map.link(schema, target, Applies.IN_PLACE)
    _refuse_circles(schema_map)
    return schema_map


def _registry_of(resource: Resource[Any]) -> Registry[Any]:
    """A registry of this one document, which retrieves nothing."""
    empty: Registry[Any] = Registry()
    registry: Registry[Any] = empty.with_resource(resource.id() or "", resource)
    try:
        registry = registry.crawl()
    except ValueError as error:
        raise InvalidSchema("an identifier in the schema is not an address") from error
    except (AttributeError, TypeError):
        pass  # the library stumbles over `dependencies` that mix schemas and names
    return registry


class _Walk:
    def __init__(
        self, schema_map: SchemaMap, specification: Specification[Any], keywords: Collection[str]
    ) -> None:
        self._map = schema_map
        self._specification = specification
        self._keywords = keywords
        self._references = [name for name in _REFERENCES if name in keywords]
        self.references: deque[tuple[str, Schema, str, Any]] = deque()

    def visit(self, pointer: str, schema: Schema, resolver: Any) -> None:
        queue = deque([(pointer, schema, resolver)])
        while queue:
            pointer, schema, resolver = queue.popleft()
            self._map.pointers[id(schema)] = pointer
            self._map.schemas[id(schema)] = schema
            for keyword in self._references:
                if keyword in schema:
                    place = f"{pointer}/{keyword}"
                    self.references.append((place, schema, keyword, resolver))
            for applies, name, child in subschemas(schema, self._keywords):
                self._map.link(schema, child, applies)
                within = resolver
                if has_address(child):
                    resource = self._specification.create_resource(child)
                    within = resolver.in_subresource(resource)
                queue.append((pointer + name, child, within))


def _resolve(reference: str, resolver: Any, pointer: str) -> tuple[Any, Any]:
    try:
        resolved = resolver.lookup(reference)
    except (Unresolvable, AttributeError, LookupError, TypeError, ValueError) as error:
        # the library lets malformed addresses and pointers through values escape as these
        message = "the reference does not lead to a schema inside the document"
        raise InvalidSchema(message, pointer) from error
    if not isinstance(resolved.contents, (bool, dict)):
        raise InvalidSchema("the reference does not lead to a schema", pointer)
    return resolved.contents, resolved.resolver


def _refuse_circles(schema_map: SchemaMap) -> None:
    try:
        TopologicalSorter(schema_map.in_place).prepare()
    except CycleError as error:
        pointer = min(schema_map.pointers[node] for node in error.args[1])
        raise InvalidSchema("the references lead in a circle", pointer) from error
