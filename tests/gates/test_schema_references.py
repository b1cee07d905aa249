from typing import Any

import pytest
from referencing.jsonschema import DRAFT7, DRAFT202012

from proxy.gates.schema_references import (
    InvalidSchema,
    Schema,
    SchemaMap,
    count_subschemas,
    has_address,
    map_schema,
    subschemas,
)

KEYWORDS = frozenset(
    ("$ref", "$dynamicRef", "$defs", "allOf", "anyOf", "contains", "items", "not", "properties")
)
OLD_KEYWORDS = frozenset(("$ref", "definitions", "dependencies"))


def _map(schema: Schema, checked: list[Any] | None = None) -> SchemaMap:
    seen: list[Any] = [] if checked is None else checked
    return map_schema(schema, DRAFT202012, KEYWORDS, seen.append)


def test_subschemas_are_found_where_keywords_expect_them_and_nowhere_else() -> None:
    schema = {
        "properties": {"a/b": {}, "yes": True},
        "prefixItems": [{}, False],
        "items": {},
        "not": {},
        "$defs": {"x": {}},
        "const": {"properties": {"no": {}}},
        "enum": [{}],
    }

    assert [pointer for _, pointer, _ in subschemas(schema)] == [
        "/properties/a~1b",
        "/prefixItems/0",
        "/items",
        "/not",
        "/$defs/x",
    ]
    assert count_subschemas(schema) == 6


def test_targets_are_those_of_ref_alone() -> None:
    target: Schema = {"$dynamicAnchor": "b"}
    plain: Schema = {"$ref": "#/$defs/b"}
    barred: Schema = {"$ref": "#/$defs/no"}
    dynamic: Schema = {"$dynamicRef": "#b"}

    schema_map = _map({"allOf": [plain, barred, dynamic], "$defs": {"b": target, "no": False}})

    assert schema_map.targets == {id(plain): target, id(barred): False}


@pytest.mark.parametrize(
    ("schema", "has"),
    [({"$id": "a"}, True), ({"id": "a"}, True), ({"properties": {"id": {}}}, False)],
)
def test_address_is_what_the_schema_itself_is_named(schema: Schema, *, has: bool) -> None:
    assert has_address(schema) is has


def test_every_subschema_has_its_pointer() -> None:
    schema_map = _map({"properties": {"a": {"items": {"$ref": "#/$defs/b"}}}, "$defs": {"b": {}}})

    assert sorted(schema_map.pointers.values()) == [
        "",
        "/$defs/b",
        "/properties/a",
        "/properties/a/items",
    ]


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"$ref": "#/$defs/a", "$defs": {"a": {}}}, id="pointer"),
        pytest.param({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {}}}, id="escaped-pointer"),
        pytest.param({"$ref": "#/$defs/a", "$defs": {"a": True}}, id="to-a-boolean"),
        pytest.param({"$ref": "#x", "$defs": {"a": {"$anchor": "x"}}}, id="anchor"),
        pytest.param(
            {"$id": "http://a.test/s", "$ref": "t", "$defs": {"a": {"$id": "t"}}}, id="relative-id"
        ),
        pytest.param(
            {"$id": "http://a.test/s", "items": {"$ref": "http://a.test/s"}}, id="own-address"
        ),
        pytest.param(
            {"$dynamicRef": "#x", "$defs": {"a": {"$dynamicAnchor": "x"}}}, id="dynamic-anchor"
        ),
        pytest.param({"items": {"$ref": "#"}}, id="recursion-that-consumes"),
        pytest.param({"properties": {"$ref": {"type": "string"}}}, id="member-called-ref"),
    ],
)
def test_reference_inside_the_document_is_resolved(schema: Schema) -> None:
    assert "" in _map(schema).pointers.values()


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        pytest.param({"$ref": "http://a.test/x"}, "/$ref", id="remote"),
        pytest.param({"items": {"$ref": "file:///etc/passwd"}}, "/items/$ref", id="file"),
        pytest.param({"$ref": "other.json"}, "/$ref", id="relative"),
        pytest.param(
            {"$ref": "https://json-schema.org/draft/2020-12/schema"}, "/$ref", id="metaschema"
        ),
        pytest.param({"$ref": "#/$defs/x"}, "/$ref", id="nowhere"),
        pytest.param({"$ref": "#x"}, "/$ref", id="no-such-anchor"),
        pytest.param({"$ref": "#/enum/x", "enum": [1]}, "/$ref", id="word-as-index"),
        pytest.param({"$ref": "#/minimum/x", "minimum": 1}, "/$ref", id="through-a-number"),
        pytest.param({"$ref": "http://["}, "/$ref", id="malformed"),
        pytest.param({"$ref": 5}, "/$ref", id="number"),
        pytest.param({"$ref": "#/x", "x": 1}, "/$ref", id="to-a-number"),
        pytest.param({"$ref": "#/required", "required": ["a"]}, "/$ref", id="to-a-list"),
        pytest.param({"$ref": "#"}, "", id="circle-of-one"),
        pytest.param(
            {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}},
            "/$defs/a",
            id="circle-of-two",
        ),
        pytest.param({"anyOf": [{"type": "null"}, {"$ref": "#"}]}, "", id="circle-in-place"),
    ],
)
def test_unusable_reference_is_refused_with_its_place(schema: Schema, pointer: str) -> None:
    with pytest.raises(InvalidSchema) as refused:
        _map(schema)

    assert refused.value.pointer == pointer


def test_target_where_no_keyword_expects_a_schema_is_checked() -> None:
    checked: list[Any] = []
    target = {"properties": {"a": {"$ref": "#/x/y"}}}

    schema_map = _map({"items": {"$ref": "#/x/y"}, "x": {"y": target}}, checked)

    assert checked == [target]
    assert schema_map.pointers[id(target)] == "#/x/y"


@pytest.mark.parametrize(
    "part", [{"$id": False}, {"$ref": 5}, {"$ref": "http://a.test/x"}, {"patternProperties": 5}]
)
def test_what_lies_under_a_keyword_of_another_draft_is_no_subschema(part: Schema) -> None:
    schema = {"dependencies": {"a": part}, "items": {"dependencies": {"a": part}}}

    assert sorted(_map(schema).pointers.values()) == ["", "/items"]


def test_malformed_identifier_is_refused() -> None:
    with pytest.raises(InvalidSchema, match="identifier"):
        _map({"$id": "http://a.test/s", "items": {"$id": "http://["}})


def test_mixed_dependencies_of_old_drafts_are_no_obstacle() -> None:
    schema = {
        "dependencies": {"a": {"$ref": "#/definitions/x"}, "b": ["c"]},
        "definitions": {"x": {}},
    }

    schema_map = map_schema(schema, DRAFT7, OLD_KEYWORDS, lambda _: None)

    assert "/dependencies/a" in schema_map.pointers.values()


def test_appliers_are_found_through_references_but_not_through_definitions() -> None:
    schema_map = _map(
        {"not": {"items": {"$ref": "#/$defs/a"}}, "contains": {}, "$defs": {"a": {}, "b": {}}}
    )
    by_pointer = {pointer: identity for identity, pointer in schema_map.pointers.items()}

    of_a = schema_map.appliers_of([by_pointer["/$defs/a"]])
    of_b = schema_map.appliers_of([by_pointer["/$defs/b"]])

    assert {schema_map.pointers[each] for each in of_a} == {"", "/not", "/not/items", "/$defs/a"}
    assert {schema_map.pointers[each] for each in of_b} == {"/$defs/b"}


def test_pointer_of_an_error_is_bounded() -> None:
    assert len(InvalidSchema("no", "/" + "x" * 500).pointer) == 200
