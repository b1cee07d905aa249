from typing import Any

import pytest

from proxy.gates.schema_check import ANYTHING, NOTHING, Check, Declined, Steps, by_kind
from proxy.gates.schema_check_parts import (
    ARRAY_KEYWORDS,
    OBJECT_KEYWORDS,
    array_checks,
    object_checks,
)
from proxy.gates.schema_patterns import compile_pattern
from proxy.gates.schema_run import OutOfSteps

PATTERNS = {"^x": compile_pattern("^x"), "1$": compile_pattern("1$"), "(?=a)": None}
CHECKS: dict[Any, Check] = {
    "text": by_kind(frozenset((str,))),
    "number": by_kind(frozenset((int,))),
    True: ANYTHING,
    False: NOTHING,
}


def _objects_fit(schema: dict[str, Any], *objects: Any, steps: int = 99) -> bool:
    used = schema.keys() & OBJECT_KEYWORDS
    checks = object_checks(schema, used, PATTERNS, CHECKS.__getitem__)
    return all(fits(list(objects), Steps(steps)) for fits in checks)


def _arrays_fit(
    schema: dict[str, Any], *arrays: Any, lists_apart: bool = True, steps: int = 99
) -> bool:
    used = schema.keys() & ARRAY_KEYWORDS
    checks = array_checks(schema, used, CHECKS.__getitem__, lists_apart=lists_apart)
    return all(fits(list(arrays), Steps(steps)) for fits in checks)


@pytest.mark.parametrize(
    ("schema", "fitting", "other"),
    [
        pytest.param({"properties": {"a": "text"}}, {"b": 1}, {"a": 1}, id="member"),
        pytest.param({"properties": {"a": False}}, {"b": 1}, {"a": 1}, id="member-forbidden"),
        pytest.param(
            {"properties": {"a": "text"}, "required": ["a"]}, {"a": "x"}, {}, id="required-member"
        ),
        pytest.param({"required": ["a"]}, {"a": 1}, {"b": 1}, id="required-name"),
        pytest.param(
            {"properties": {"a": True}, "additionalProperties": False},
            {"a": 1},
            {"a": 1, "b": 1},
            id="closed",
        ),
        pytest.param(
            {"properties": {"a": True}, "additionalProperties": "text"},
            {"a": 1, "b": "x"},
            {"b": 1},
            id="others",
        ),
        pytest.param(
            {"patternProperties": {"^x": "text", "1$": "text"}},
            {"x": "a", "y1": "a", "z": 1},
            {"y1": 1},
            id="patterns",
        ),
        pytest.param(
            {"properties": {"x": "text"}, "patternProperties": {"^x": "number"}},
            {"x1": 1},
            {"x": "a"},
            id="pattern-of-a-named-member",
        ),
        pytest.param(
            {
                "properties": {"a": True},
                "patternProperties": {"^x": True},
                "additionalProperties": False,
            },
            {"a": 1, "x": 1},
            {"b": 1},
            id="closed-beside-patterns",
        ),
        pytest.param({"propertyNames": "text"}, {"a": 1}, {1: 1}, id="names"),
        pytest.param({"minProperties": 1, "maxProperties": 2}, {"a": 1}, {}, id="size"),
        pytest.param({"required": ["b"], "additionalProperties": "text"}, {"b": "x"}, {"b": 1},
                     id="required-name-is-no-known-member"),
    ],
)  # fmt: skip
def test_objects_are_held_to_their_keywords(
    schema: dict[str, Any], fitting: Any, other: Any
) -> None:
    assert _objects_fit(schema, fitting, fitting)
    assert not _objects_fit(schema, fitting, other)


def test_members_are_found_among_many_optional_ones() -> None:
    properties = {f"p{number}": "text" for number in range(100)}

    assert _objects_fit({"properties": properties}, {"p7": "x"}, {}, {"p8": "x", "q": 1}, steps=9)
    assert not _objects_fit({"properties": properties}, {"p7": "x"}, {"p8": 1}, steps=9)


@pytest.mark.parametrize(
    ("schema", "fitting", "other"),
    [
        pytest.param({"items": "text"}, ["a", "b"], ["a", 1], id="items"),
        pytest.param({"items": False}, [], [1], id="no-items"),
        pytest.param({"prefixItems": ["text", "number"]}, ["a"], ["a", "b"], id="leading"),
        pytest.param(
            {"prefixItems": ["text"], "items": "number"}, ["a", 1, 2], ["a", 1, "b"], id="further"
        ),
        pytest.param({"minItems": 1, "maxItems": 2}, [1], [1, 2, 3], id="size"),
        pytest.param({"uniqueItems": True}, [1, 2], [1, 1], id="unique"),
    ],
)
def test_arrays_are_held_to_their_keywords(
    schema: dict[str, Any], fitting: list[Any], other: list[Any]
) -> None:
    assert _arrays_fit(schema, fitting, [], fitting) is (schema.get("minItems") is None)
    assert _arrays_fit(schema, fitting, fitting)
    assert not _arrays_fit(schema, fitting, other)


def test_items_may_repeat_where_unique_is_false() -> None:
    assert _arrays_fit({"uniqueItems": False}, [1, 1])


@pytest.mark.parametrize(
    ("schema", "fits"),
    [
        ({"items": ["text"], "additionalItems": "number"}, True),
        ({"items": ["text"], "additionalItems": False}, False),
        ({"items": True, "additionalItems": False}, True),
        ({"additionalItems": False}, True),
        ({"prefixItems": ["number"], "items": ["text"]}, True),
    ],
)
def test_older_drafts_list_leading_items_under_items(schema: dict[str, Any], *, fits: bool) -> None:
    assert _arrays_fit(schema, ["a", 1], lists_apart=False) is fits


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": []},
        {"patternProperties": 5},
        {"patternProperties": {"(?=a)": True}},
        {"required": "a"},
        {"required": [1]},
    ],
    ids=str,
)
def test_object_keyword_of_another_shape_is_declined(schema: dict[str, Any]) -> None:
    with pytest.raises(Declined):
        _objects_fit(schema, {})


def test_array_keyword_of_another_shape_is_declined() -> None:
    with pytest.raises(Declined):
        _arrays_fit({"prefixItems": {}}, [])


MANY = {str(number): number for number in range(1_000)}


@pytest.mark.parametrize(
    "schema",
    [
        {"additionalProperties": False},
        {"additionalProperties": "text"},
        {"patternProperties": {"^x": True}},
        {"propertyNames": True},
        {"properties": dict.fromkeys(MANY, True)},
        {"required": [*MANY]},
    ],
    ids=lambda schema: next(iter(schema)),
)
def test_passing_over_many_members_is_paid_for(schema: dict[str, Any]) -> None:
    with pytest.raises(OutOfSteps):
        _objects_fit(schema, MANY, steps=20)


@pytest.mark.parametrize("items", [{"items": "number"}, {"prefixItems": [True] * 1_000}], ids=str)
def test_passing_over_many_items_is_paid_for(items: dict[str, Any]) -> None:
    with pytest.raises(OutOfSteps):
        _arrays_fit(items, [*MANY.values()], steps=20)
