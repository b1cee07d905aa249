import json

import pytest

from proxy.gates.schema import SchemaBounds, Undecided, compile_schema

AHEAD = "(?=a)"  # RE2 has no look-ahead


def _fits(schema: object, document: object, max_steps: int = 10_000) -> bool:
    compiled = compile_schema(json.dumps(schema).encode(), SchemaBounds(max_steps=max_steps))
    return compiled.validate(document) is None


@pytest.mark.parametrize(
    ("schema", "document", "fits"),
    [
        pytest.param({"pattern": "^a"}, "abc", True, id="pattern-matches"),
        pytest.param({"pattern": "^a"}, "xbc", False, id="pattern-does-not-match"),
        pytest.param({"pattern": "^a"}, 5, True, id="pattern-on-a-number"),
        pytest.param({"patternProperties": {"^a": {"type": "null"}}}, {"ab": 1}, False, id="names"),
        pytest.param(
            {"patternProperties": {"^a": {"type": "null"}}}, {"b": 1}, True, id="other-names"
        ),
        pytest.param({"patternProperties": {"^a": False}}, ["a"], True, id="names-on-an-array"),
        pytest.param({"additionalProperties": False}, {}, True, id="none-additional"),
        pytest.param({"additionalProperties": False}, {"a": 1}, False, id="one-additional"),
        pytest.param({"additionalProperties": False}, [1], True, id="additional-on-an-array"),
        pytest.param({"additionalProperties": {"type": "null"}}, {"a": 1}, False, id="typed"),
        pytest.param(
            {"patternProperties": {"^a": {}}, "additionalProperties": False},
            {"ab": 1},
            True,
            id="additional-but-named",
        ),
        pytest.param({"const": {"a": [1.0]}}, {"a": [1]}, True, id="const"),
        pytest.param({"const": 1}, True, False, id="const-is-not-true"),
        pytest.param({"enum": ["a", [0], None]}, [0], True, id="enum"),
        pytest.param({"enum": ["a", [0], None]}, [False], False, id="no-enum-member"),
        pytest.param({"uniqueItems": True}, [1, True, "1", [1], {"a": 1}], True, id="unique"),
        pytest.param({"uniqueItems": True}, [1, 1.0], False, id="equal-numbers"),
        pytest.param({"uniqueItems": True}, [[True], [1]], True, id="true-is-not-one"),
        pytest.param(
            {"uniqueItems": True},
            [{"a": [0], "b": 1}, {"b": 1, "a": [0]}],
            False,
            id="equal-objects",
        ),
        pytest.param({"uniqueItems": False}, [1, 1], True, id="not-asked-to-be-unique"),
        pytest.param({"uniqueItems": True}, "aa", True, id="unique-on-a-string"),
        pytest.param({"oneOf": [{"type": "integer"}, {"minimum": 5}]}, 7, False, id="two-of"),
        pytest.param({"oneOf": [{"type": "integer"}, {"minimum": 5}]}, 2, True, id="one-of"),
        pytest.param({"not": {"type": "null"}}, None, False, id="not"),
        pytest.param({"if": {"type": "null"}, "else": False}, 1, False, id="if"),
        pytest.param({"contains": {"const": 1}, "maxContains": 1}, [1, 1], False, id="contains"),
    ],
)
def test_keyword_decides(schema: object, document: object, fits: bool) -> None:
    assert _fits(schema, document) is fits


@pytest.mark.parametrize(
    ("schema", "document"),
    [
        pytest.param({"pattern": AHEAD}, "x", id="pattern"),
        pytest.param({"patternProperties": {AHEAD: False}}, {"a": 1}, id="names"),
        pytest.param(
            {"patternProperties": {AHEAD: {}}, "additionalProperties": False},
            {"x": 1},
            id="additional",
        ),
        pytest.param(
            {"allOf": [{"patternProperties": {AHEAD: {}}}], "unevaluatedProperties": False},
            {"x": 1},
            id="unevaluated",
        ),
        pytest.param({"if": {"pattern": AHEAD}, "then": {"prefixItems": [{}]},
                      "else": {"items": {}}, "unevaluatedItems": False}, [1, 2],
                     id="unevaluated-items"),
        pytest.param({"not": {"pattern": AHEAD}}, "x", id="not"),
        pytest.param({"not": {"items": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"pattern": AHEAD}}},
                     ["x"], id="not-through-a-reference"),
        pytest.param({"if": {"pattern": AHEAD}, "then": False}, "x", id="if"),
        pytest.param({"oneOf": [{"pattern": AHEAD}, {"type": "string"}]}, "x", id="one-of"),
        pytest.param({"contains": {"pattern": AHEAD}, "maxContains": 1}, ["x", "y"], id="contains"),
    ],
)  # fmt: skip
def test_unchecked_pattern_never_fails_a_document(schema: object, document: object) -> None:
    assert _fits(schema, document)


@pytest.mark.parametrize(
    ("schema", "document"),
    [
        pytest.param({"oneOf": [{"pattern": AHEAD, "type": "string"}, {"type": "null"}]}, 1,
                     id="one-of"),
        pytest.param({"contains": {"pattern": AHEAD, "type": "string"}}, [1], id="contains"),
        pytest.param({"patternProperties": {AHEAD: {}, "^b": False}}, {"b": 1}, id="other-pattern"),
    ],
)  # fmt: skip
def test_what_stays_decidable_beside_an_unchecked_pattern_is_decided(
    schema: object, document: object
) -> None:
    assert not _fits(schema, document)


def test_long_texts_and_many_errors_are_paid_for() -> None:
    with pytest.raises(Undecided):
        _fits({"items": {"pattern": "a$"}}, ["x" * 10_000] * 10, max_steps=100)
    with pytest.raises(Undecided):
        _fits({"anyOf": [{"items": {"type": "null"}}]}, [1] * 50, max_steps=1_000)


def test_work_on_members_without_keywords_is_paid_for() -> None:
    with pytest.raises(Undecided):
        _fits({"allOf": [{"items": {}}] * 50, "contains": {}}, [1] * 100, max_steps=1_000)


def test_comparing_large_values_is_paid_for() -> None:
    for schema in ({"const": [1] * 50}, {"enum": [[1] * 50]}, {"uniqueItems": True}):
        with pytest.raises(Undecided):
            _fits(schema, [1] * 50, max_steps=40)


@pytest.mark.parametrize("draft", ["draft-06", "draft-07"])
@pytest.mark.parametrize(
    ("items", "document", "fits"),
    [
        pytest.param([{}], [1], True, id="none-more"),
        pytest.param([{}], [1, 2], False, id="one-more"),
        pytest.param({}, [1, 2], True, id="items-are-all-alike"),
        pytest.param(True, [1, 2], True, id="items-are-true"),
        pytest.param(None, [1, 2], True, id="no-items"),
    ],
)
def test_additional_items_come_only_after_listed_ones(
    draft: str, items: object, document: object, fits: bool
) -> None:
    address = f"http://json-schema.org/{draft}/schema#"
    schema: dict[str, object] = {"$schema": address, "additionalItems": False}
    if items is not None:
        schema["items"] = items

    assert _fits(schema, document) is fits
