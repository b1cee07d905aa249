import json
from typing import Any

import pytest

from proxy.gates.schema import compile_schema

DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema"


def _fits(schema: object, document: object) -> bool:
    return compile_schema(json.dumps(schema).encode()).validate(document) is None


UNEVALUATED: list[Any] = [
    pytest.param({"properties": {"a": {}}}, ["a"], id="properties"),
    pytest.param({"patternProperties": {"^a": {}}}, ["a", "ab"], id="names"),
    pytest.param({"additionalProperties": True}, ["a", "b"], id="additional"),
    pytest.param({"allOf": [{"properties": {"a": {}}}, True]}, ["a"], id="all-of"),
    pytest.param({"anyOf": [{"properties": {"a": {}}}, {"required": ["c"]}]}, ["a"], id="any-of"),
    pytest.param({"allOf": [{"unevaluatedProperties": True}]}, ["a", "b"], id="nested-unevaluated"),
    pytest.param({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"a": {}}}}}, ["a"], id="ref"),
    pytest.param(
        {"$dynamicRef": "#x", "$defs": {"a": {"$dynamicAnchor": "x", "properties": {"a": {}}}}},
        ["a"],
        id="dynamic-ref",
    ),
    pytest.param({"dependentSchemas": {"a": {"properties": {"a": {}}}}}, ["a"], id="dependent"),
    pytest.param(
        {"if": {"required": ["a"]}, "then": {"properties": {"a": {}}}, "else": False},
        ["a"],
        id="then",
    ),
    pytest.param({"if": False, "else": {"properties": {"a": {}}}}, ["a"], id="else"),
    pytest.param({"if": {"properties": {"a": {}}}}, ["a"], id="if-alone"),
]


@pytest.mark.parametrize(("schema", "evaluated"), UNEVALUATED)
def test_evaluated_members_are_those_that_a_holding_subschema_saw(
    schema: dict[str, Any], evaluated: list[str]
) -> None:
    closed = {**schema, "unevaluatedProperties": False}

    assert _fits(closed, dict.fromkeys(evaluated, 1))
    assert _fits(closed, {**dict.fromkeys(evaluated, 1), "z": 1}) is ("b" in evaluated)


def test_branch_that_does_not_hold_evaluates_nothing() -> None:
    branches = [{"properties": {"a": {"type": "null"}}, "required": ["b"]}, {"minProperties": 1}]
    schema = {"anyOf": branches, "unevaluatedProperties": False}

    assert not _fits(schema, {"a": 1})


def test_unevaluated_members_may_have_a_schema() -> None:
    schema = {"unevaluatedProperties": {"type": "integer"}}

    assert _fits(schema, {"a": 1})
    assert not _fits(schema, {"a": "x"})
    assert _fits(schema, ["x"])


def test_recursive_reference_of_draft_2019_evaluates_members() -> None:
    schema = {
        "$schema": DRAFT_2019,
        "properties": {"a": {}, "in": {"$recursiveRef": "#", "unevaluatedProperties": False}},
    }

    assert _fits(schema, {"in": {"a": 1}})
    assert not _fits(schema, {"in": {"z": 1}})


ITEMS: list[Any] = [
    pytest.param({"prefixItems": [{}, {}]}, [1, 2], [1, 2, 3], id="prefix"),
    pytest.param({"contains": {"const": 1}}, [1, 1], [1, 2], id="contains"),
    pytest.param(
        {"allOf": [{"prefixItems": [{}]}], "contains": {"const": 1}}, [2, 1], [2, 2, 1], id="both"
    ),
    pytest.param(
        {"anyOf": [{"prefixItems": [{"type": "null"}]}, {"minItems": 1}]}, [None], [1], id="branch"
    ),
]


@pytest.mark.parametrize(("schema", "seen", "unseen"), ITEMS)
def test_evaluated_items_are_those_that_a_holding_subschema_saw(
    schema: dict[str, Any], seen: object, unseen: object
) -> None:
    closed = {**schema, "unevaluatedItems": False}

    assert _fits(closed, seen)
    assert not _fits(closed, unseen)
    assert _fits(closed, {"no": "array"})


@pytest.mark.parametrize("schema", [{"items": {}}, {"allOf": [{"unevaluatedItems": True}]}])
def test_schema_for_all_items_leaves_none_unevaluated(schema: dict[str, Any]) -> None:
    assert _fits({**schema, "unevaluatedItems": False}, [1, 2, 3])


def test_list_of_items_in_draft_2019_evaluates_as_many() -> None:
    schema = {"$schema": DRAFT_2019, "items": [{}], "unevaluatedItems": False}

    assert _fits(schema, [1])
    assert not _fits(schema, [1, 2])
    assert _fits({**schema, "additionalItems": {"type": "integer"}}, [1, 2])


def test_keywords_of_the_next_draft_evaluate_nothing_in_draft_2019() -> None:
    newer = {"contains": {}, "prefixItems": [{}], "unevaluatedItems": False}

    assert not _fits({"$schema": DRAFT_2019, **newer}, [1])
    assert not _fits({"$schema": DRAFT_2019, **newer, "prefixItems": 5}, [1])
    assert _fits(newer, [1])


def test_unevaluated_items_are_told_once_by_their_indexes() -> None:
    schema = compile_schema(b'{"prefixItems": [{}], "unevaluatedItems": false}')

    violation = schema.validate([1, 2, 3])

    assert violation is not None
    assert violation.message == "has items that the schema does not allow: 1, 2"
