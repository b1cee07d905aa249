"""A value for a JSON Schema: the usual keywords, and a refusal of the others.

An imitation has nothing to say; what it writes must only be what was asked for.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from proxy.demo.imitation.asked import WrongRequest
from proxy.demo.imitation.prose import words_of_length
from proxy.demo.imitation.schema_number import Schema, Unsupported, number_for, whole_number

_MOST_DEPTH: Final = 24
_MOST_VALUES: Final = 2000
_DEEP: Final = 6
# Long texts count as several values.
_CHARACTERS_OF_A_VALUE: Final = 100
_MOST_CHARACTERS: Final = 20_000
_FORMATS: Final[Mapping[str, str]] = {
    "date": "2026-07-01",
    "date-time": "2026-07-01T12:00:00Z",
    "time": "12:00:00Z",
    "email": "lock.keeper@example.org",
    "uri": "https://example.org/lock",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "192.0.2.1",
}
_UNSUPPORTED: Final = (
    *("pattern", "not", "if", "patternProperties", "propertyNames", "contains", "uniqueItems"),
    *("dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems"),
    *("minProperties", "dependencies", "minContains", "$dynamicRef"),
)

TextFor = Callable[[str], str | None]
"""The text that a property of this name is to hold; None where any will do."""


@dataclass(slots=True)
class ValueMaker:
    """Makes a value for one document, of at most `left` values.

    Raises `Unsupported`, and `WrongRequest` for a reference that points nowhere.
    """

    root: Schema
    chance: random.Random
    text_for: TextFor = lambda _: None
    left: int = _MOST_VALUES

    def value(self, schema: Any = None, name: str = "", depth: int = 0) -> Any:
        schema = self.root if schema is None else schema
        self.left -= 1
        if self.left < 0:
            raise Unsupported(f"more than {_MOST_VALUES} values")
        if schema is True:
            return {}
        if not isinstance(schema, Mapping) or depth > _MOST_DEPTH:
            raise Unsupported("this depth, or a schema that is no object")
        if found := [word for word in _UNSUPPORTED if word in schema]:
            raise Unsupported(f"`{found[0]}`")
        if fixed := _fixed(schema):
            return self.chance.choice(fixed)
        if (other := self._elsewhere(schema)) is not None:
            return self.value(other, name, depth + 1)
        return self._typed(schema, name, depth)

    def _elsewhere(self, schema: Schema) -> Any:
        """The schema that stands for this one; None where it speaks for itself."""
        if "$ref" in schema:
            return self._referred(schema["$ref"])
        word = next((word for word in ("anyOf", "oneOf", "allOf") if word in schema), None)
        return None if word is None else self._branch(schema, word)

    def _typed(self, schema: Schema, name: str, depth: int) -> Any:
        made: Any = None
        match _type_of(schema):
            case "object":
                made = self._object(schema, depth)
            case "array":
                made = self._array(schema, name, depth)
            case "string":
                made = self._string(schema, name)
            case "integer" | "number" as kind:
                made = number_for(schema, self.chance, whole=kind == "integer")
            case "boolean":
                made = bool(self.chance.getrandbits(1))
            case "null":
                pass
            case other:
                raise Unsupported(f"the type {other!r}")
        return made

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        """All properties, or only the demanded ones: far down, and where no more may be."""
        properties = schema.get("properties", {})
        if not isinstance(properties, Mapping):
            raise Unsupported("`properties` that are no object")
        demanded = _listed(schema, "required")
        others = [name for name in demanded if name not in properties]
        if others and schema.get("additionalProperties", True) is not True:
            raise Unsupported("a demanded member that is no property")
        few = depth > _DEEP or whole_number(schema, "maxProperties", _MOST_VALUES) < len(properties)
        names = demanded if few else [*properties, *others]
        return {
            name: self.value(properties.get(name, True), name, depth + 1)
            for name in names
            if isinstance(name, str)
        }

    def _array(self, schema: Schema, name: str, depth: int) -> list[Any]:
        first, items = _listed(schema, "prefixItems"), schema.get("items", True)
        least = whole_number(schema, "minItems", 0)
        most = whole_number(schema, "maxItems", _MOST_VALUES)
        wanted = len(first) if items is False else max(len(first), 0 if depth > _DEEP else 2)
        count = min(max(least, wanted), most)
        if count < least or (items is False and count > len(first)):
            raise Unsupported("a length that no array has")
        if count > _MOST_VALUES:
            raise Unsupported(f"more than {_MOST_VALUES} items")
        kinds = [*first, *([items] * (count - len(first)))][:count]
        return [self.value(kind, name, depth + 1) for kind in kinds]

    def _string(self, schema: Schema, name: str) -> str:
        if (shown := _FORMATS.get(str(schema.get("format")))) is not None:
            return shown
        least = whole_number(schema, "minLength", 0)
        most = whole_number(schema, "maxLength", max(least + 40, 24))
        if least > _MOST_CHARACTERS or least > most:
            raise Unsupported("such lengths of a string")
        self.left -= least // _CHARACTERS_OF_A_VALUE
        text = self.text_for(name)
        if text is not None and least <= len(text) <= whole_number(schema, "maxLength", len(text)):
            return text
        return words_of_length(least, most, self.chance)

    def _branch(self, schema: Schema, word: str) -> Schema:
        """The first branch that is not null, together with what stands beside it."""
        branches = schema[word]
        if not isinstance(branches, list) or not branches:
            raise Unsupported(f"an empty `{word}`")
        beside = {key: each for key, each in schema.items() if key != word}
        if word == "allOf":
            if len(branches) > 1 or set(beside) - _NOTES:
                raise Unsupported("`allOf` beside other keywords")
            return _as_schema(branches[0])
        if set(beside) - _NOTES:
            raise Unsupported(f"`{word}` beside other keywords")
        if word == "oneOf" and len(branches) > 1 and not _types_differ(branches):
            raise Unsupported("`oneOf` of one type")
        told = [each for each in branches if each != {"type": "null"}]
        return _as_schema((told or branches)[0])

    def _referred(self, reference: Any) -> Any:
        if reference == "#":
            return self.root
        found: Any = self.root
        if not isinstance(reference, str) or not reference.startswith("#/"):
            raise Unsupported("a `$ref` to another document")
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or key not in found:
                raise WrongRequest(f"the schema's `$ref` {reference} points nowhere")
            found = found[key]
        return found


_NOTES: Final = frozenset(
    {"title", "description", "default", "examples", "$schema", "$id", "$defs", "definitions"}
)


def _listed(schema: Schema, word: str) -> list[Any]:
    value = schema.get(word, [])
    if not isinstance(value, list):
        raise Unsupported(f"such a `{word}`")
    return value


def _fixed(schema: Schema) -> list[Any]:
    """The values that the schema itself lists."""
    if "const" in schema:
        return [schema["const"]]
    return _listed(schema, "enum")


def _type_of(schema: Schema) -> Any:
    kind = schema.get("type")
    if isinstance(kind, list):
        return next((each for each in kind if each != "null"), "null")
    if kind is not None:
        return kind
    if "properties" in schema or "required" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else "string"


def _types_differ(branches: list[Any]) -> bool:
    kinds = [each.get("type") if isinstance(each, Mapping) else None for each in branches]
    named = [kind for kind in kinds if isinstance(kind, str)]
    number = {"integer", "number"} <= set(named)
    return len(named) == len(branches) == len(set(named)) and not number


def _as_schema(value: Any) -> Schema:
    if isinstance(value, Mapping):
        return value
    raise Unsupported("a branch that is no object")
