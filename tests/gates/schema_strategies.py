"""Generated schemas of every draft, and documents that fit them or nearly do.

Formats are no part of it, and patterns are such as mean the same in every dialect.
"""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

NAMES = ["a", "b", "ab"]
DEFINITIONS = ["x", "y"]
PATTERNS = ["^a", "b$", "^[a-b]{2}$", "."]
DIALECTS = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
]
ALL, SINCE_6, SINCE_7, SINCE_2019, SINCE_2020 = (range(first, 5) for first in range(5))
UNTIL_7, UNTIL_2019 = range(3), range(4)
MOST_DEPTH = 3

SCALARS: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        1,
        2,
        7,
        -1,
        1.0,
        0.5,
        2.5,
        1e300,
        10**20,
        "",
        "a",
        "b",
        "ab",
        "bbb",
        "é",
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=5,
)
SIZES = st.integers(0, 3)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
BOUNDS_OF_SIZE = [
    f"{end}{of}" for end in ("min", "max") for of in ("Length", "Items", "Properties")
]
PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
    "enum": st.lists(VALUES, min_size=1, max_size=3, unique_by=json.dumps),
    "minimum": st.integers(-1, 2),
    "maximum": st.sampled_from([0, 1, 2.5, 10**20]),
    "multipleOf": st.sampled_from([1, 2, 0.5]),
    "pattern": st.sampled_from(PATTERNS),
    "required": st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True),
    "uniqueItems": st.booleans(),
} | dict.fromkeys(BOUNDS_OF_SIZE, SIZES)
NEWER: dict[str, tuple[range, st.SearchStrategy[Any]]] = {
    "const": (SINCE_6, VALUES),
    "exclusiveMinimum": (SINCE_6, st.integers(-1, 1)),
    "exclusiveMaximum": (SINCE_6, st.integers(0, 2)),
    "minContains": (SINCE_2019, SIZES),
    "maxContains": (SINCE_2019, SIZES),
    "dependentRequired": (
        SINCE_2019,
        st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=1)),
    ),
}

Below = st.SearchStrategy[Any]


def _named(below: Below) -> Below:
    return st.dictionaries(st.sampled_from(NAMES), below, min_size=1, max_size=2)


def _listed(below: Below) -> Below:
    return st.lists(below, min_size=1, max_size=3)


def _one(below: Below) -> Below:
    return below


def _by_pattern(below: Below) -> Below:
    return st.dictionaries(st.sampled_from(PATTERNS), below, min_size=1, max_size=2)


def _one_or_listed(below: Below) -> Below:
    return below | _listed(below)


def _schema_or_names(below: Below) -> Below:
    return _named(below | st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True))


APPLYING: dict[str, tuple[range, Callable[[Below], Below]]] = {
    "properties": (ALL, _named),
    "patternProperties": (ALL, _by_pattern),
    "additionalProperties": (ALL, _one),
    "items": (ALL, _one),
    "allOf": (ALL, _listed),
    "anyOf": (ALL, _listed),
    "oneOf": (ALL, _listed),
    "not": (ALL, _one),
    "additionalItems": (UNTIL_2019, _one),
    "dependencies": (UNTIL_7, _schema_or_names),
    "contains": (SINCE_6, _one),
    "propertyNames": (SINCE_6, _one),
    "if": (SINCE_7, _one),
    "then": (SINCE_7, _one),
    "else": (SINCE_7, _one),
    "dependentSchemas": (SINCE_2019, _named),
    "prefixItems": (SINCE_2020, _listed),
    # plain jsonschema reads these two wrongly in 2019-09, or stumbles over them
    "unevaluatedProperties": (SINCE_2020, _one),
    "unevaluatedItems": (SINCE_2020, _one),
}

KEYWORDS = frozenset({*PLAIN, *NEWER, *APPLYING})


@st.composite
def subschemas(
    draw: st.DrawFn, dialect: str, depth: int, keywords: frozenset[str] = KEYWORDS
) -> Any:
    """A schema of a few of the keywords; one of depth 1 or 2 may refer to a definition."""
    version = DIALECTS.index(dialect)
    if version in SINCE_6 and draw(st.integers(0, 9)) == 0:
        return draw(st.booleans())
    plain = PLAIN | {
        name: values for name, (versions, values) in NEWER.items() if version in versions
    }
    applying = {
        name: build for name, (versions, build) in APPLYING.items() if version in versions and depth
    }
    below = subschemas(dialect, depth - 1, keywords)
    if "items" in applying and version in UNTIL_2019:
        applying["items"] = _one_or_listed
    names = draw(
        st.lists(
            st.sampled_from([each for each in (*plain, *applying, *applying) if each in keywords]),
            min_size=1,
            max_size=3,
            unique=True,
        )
    )
    schema = {name: draw(plain[name] if name in plain else applying[name](below)) for name in names}
    if isinstance(schema.get("items"), bool):
        schema.pop("additionalItems", None)  # plain jsonschema stumbles over the two
    if depth in (1, 2) and draw(st.integers(0, 5)) == 0:
        reference = {"$ref": f"#/definitions/{draw(st.sampled_from(DEFINITIONS))}"}
        return (
            schema | reference if version in SINCE_2019 else reference
        )  # before, it hid what stood beside
    return schema


@st.composite
def schemas(
    draw: st.DrawFn,
    dialect: str,
    keywords: frozenset[str] = KEYWORDS,
    depth_of_definitions: int = 0,
) -> dict[str, Any]:
    """A schema with definitions; those of some depth may refer to each other, even in a circle."""
    schema = draw(subschemas(dialect, MOST_DEPTH, keywords))
    if not isinstance(schema, dict):
        schema = {"allOf": [schema]}
    definitions = {
        name: draw(subschemas(dialect, depth_of_definitions, keywords)) for name in DEFINITIONS
    }
    return {"$schema": dialect, "definitions": definitions} | schema


@st.composite
def fitting(draw: st.DrawFn, schema: Any) -> Any:
    """A document that heeds what can be heeded one keyword at a time."""
    if not isinstance(schema, dict):
        return draw(VALUES)
    if "const" in schema or "enum" in schema:
        return draw(st.sampled_from(schema.get("enum", [schema.get("const")])))
    unions = [schema[name] for name in ("anyOf", "oneOf", "allOf") if name in schema]
    if draw(st.booleans()) and unions:
        return draw(fitting(draw(st.sampled_from(unions[0]))))
    return draw(fitting_container(schema))


@st.composite
def fitting_container(draw: st.DrawFn, schema: dict[str, Any]) -> Any:
    if schema.keys() & {"properties", "required", "additionalProperties"}:
        named, extra = schema.get("properties", {}), schema.get("additionalProperties")
        more = draw(st.sets(st.sampled_from(NAMES)))
        names = sorted({*schema.get("required", ()), *more})
        return {name: draw(fitting(named.get(name, extra))) for name in names}
    if schema.keys() & {"items", "prefixItems", "contains"}:
        items = schema.get("items", schema.get("contains"))
        listed = items if isinstance(items, list) else schema.get("prefixItems", ())
        leading = [draw(fitting(each)) for each in listed]
        return leading + [draw(fitting(items)) for _ in range(draw(SIZES))]
    return draw(VALUES)


@st.composite
def damaged(draw: st.DrawFn, document: Any) -> Any:
    """The document with one value changed, added, or taken away, at any depth."""
    if isinstance(document, list) and document and draw(st.booleans()):
        at = draw(st.integers(0, len(document) - 1))
        changed = [draw(damaged(document[at]))] if draw(st.booleans()) else []
        return document[:at] + changed + document[at + 1 :]
    if isinstance(document, dict) and draw(st.booleans()):
        name = draw(st.sampled_from(NAMES))
        rest = {key: value for key, value in document.items() if key != name}
        if name in document and draw(st.booleans()):
            return rest
        return rest | {name: draw(damaged(document.get(name)))}
    return draw(VALUES)
