from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from proxy.demo.imitation.asked import WrongRequest
from proxy.demo.imitation.schema_number import Unsupported
from proxy.demo.imitation.schema_value import ValueMaker
from tests.fakes.imitation import chance

TEXTS = st.builds(
    lambda least, more: {"type": "string", "minLength": least, "maxLength": least + more},
    st.integers(0, 60),
    st.integers(0, 60),
)
SCALARS = st.one_of(
    TEXTS,
    st.just({"type": "string", "format": "date"}),
    st.just({"type": "boolean"}),
    st.just({"type": "null"}),
    st.just({"type": ["null", "integer"], "minimum": 2}),
    st.just({"enum": ["a", 3, None]}),
    st.just({"const": {"a": [1]}}),
    st.just({"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
)


def _object(properties: dict[str, Any], *, strict: bool) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": not strict,
    }


SCHEMAS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.builds(
            _object, st.dictionaries(st.text(max_size=8), inner, max_size=4), strict=st.booleans()
        ),
        st.builds(
            lambda items, least: {"type": "array", "items": items, "minItems": least},
            inner,
            st.integers(0, 4),
        ),
        st.builds(lambda first: {"type": "array", "prefixItems": [first], "items": False}, inner),
        st.builds(lambda one: {"anyOf": [{"type": "null"}, one]}, inner),
    ),
    max_leaves=8,
)


@given(SCHEMAS, st.integers())
def test_value_satisfies_its_schema(schema: dict[str, Any], seed: int) -> None:
    value = ValueMaker(schema, chance(seed)).value()

    assert Draft202012Validator(schema).is_valid(value)


def test_reference_is_followed_and_recursion_ends() -> None:
    tree = {
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                },
                "required": ["name", "children"],
            }
        },
        "$ref": "#/$defs/node",
    }

    value = ValueMaker(tree, chance(1)).value()

    assert Draft202012Validator(tree).is_valid(value)


def test_text_for_a_property_is_used_where_it_fits() -> None:
    schema = _object(
        {"title": {"type": "string"}, "short": {"type": "string", "maxLength": 3}}, strict=True
    )

    value = ValueMaker(schema, chance(1), lambda name: f"for {name}").value()

    assert value["title"] == "for title"
    assert len(value["short"]) <= 3


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^a$"},
        {"type": "array", "minItems": 5000},
        {"type": "string", "minLength": 10**9},
        {"type": "string", "minLength": 3, "maxLength": 2},
        {"type": "nonsense"},
        {"$ref": "https://example.org/schema"},
        {"type": "object", "required": ["a"], "additionalProperties": False},
        {"type": "object", "properties": []},
        {"required": "a"},
        {"enum": "a"},
        {"anyOf": []},
        {"oneOf": [{"type": "integer"}, {"type": "number"}]},
        {"allOf": [{"type": "string"}, {"maxLength": 2}]},
        {"items": False, "minItems": 1},
        {"$ref": "#"},
        False,
    ],
    ids=str,
)
def test_schema_that_it_cannot_answer_is_refused(schema: Any) -> None:
    with pytest.raises(Unsupported):
        ValueMaker(schema, chance(1)).value()


def test_reference_to_nowhere_is_the_client_s_fault() -> None:
    with pytest.raises(WrongRequest, match="points nowhere"):
        ValueMaker({"$ref": "#/$defs/absent"}, chance(1)).value()


def test_tree_that_grows_without_end_is_refused() -> None:
    many: dict[str, Any] = {"type": "integer"}
    for _ in range(5):
        many = {"type": "array", "items": many, "minItems": 50}

    with pytest.raises(Unsupported, match="more than 2000 values"):
        ValueMaker(many, chance(1)).value()


def test_texts_without_measure_are_refused() -> None:
    long = {"type": "string", "minLength": 15_000}
    many = {"type": "array", "items": long, "minItems": 100}

    with pytest.raises(Unsupported, match="more than 2000 values"):
        ValueMaker(many, chance()).value()
