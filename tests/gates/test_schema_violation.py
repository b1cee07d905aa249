import pytest
from jsonschema import Draft202012Validator

from proxy.gates.schema_violation import (
    Violation,
    describe,
    escape,
    json_pointer,
    most_telling,
    shorten,
)


def _violation(schema: object, document: object) -> Violation:
    error = most_telling(Draft202012Validator(schema).iter_errors(document))  # type: ignore[arg-type]
    assert error is not None
    return describe(error)


@pytest.mark.parametrize(
    ("schema", "document", "violation"),
    [
        pytest.param(
            {"properties": {"a": {"type": "integer"}}},
            {"a": "x"},
            Violation("/a", "is a string, not integer", "type"),
            id="type",
        ),
        pytest.param(
            {"type": ["array", "null"]},
            {},
            Violation("", "is an object, not array or null", "type"),
            id="types",
        ),
        pytest.param(
            {"required": ["a", "b", "c"]},
            {"b": 1},
            Violation("", 'lacks "a", "c"', "required"),
            id="required",
        ),
        pytest.param(
            {"additionalProperties": False},
            {"x": 1},
            Violation(
                "",
                "has members that the schema does not allow: "
                "Additional properties are not allowed ('x' was unexpected)",
                "additionalProperties",
            ),
            id="additional-properties",
        ),
        pytest.param(
            {"items": {"enum": ["ü", 1]}},
            ["ü", 2],
            Violation("/1", 'is none of "ü", 1', "enum"),
            id="enum",
        ),
        pytest.param(
            {"properties": {"a": False}},
            {"a": 1},
            Violation("", "has a part that the schema does not allow", "false"),
            id="false-schema",
        ),
        pytest.param(
            {"minimum": 3},
            2,
            Violation("", "does not satisfy minimum 3", "minimum"),
            id="keyword-with-a-scalar",
        ),
        pytest.param(
            {"not": {}}, 1, Violation("", "does not satisfy not", "not"), id="keyword-with-a-schema"
        ),
    ],
)
def test_violation_says_where_and_what(
    schema: object, document: object, violation: Violation
) -> None:
    assert _violation(schema, document) == violation


@pytest.mark.parametrize(
    ("document", "kind"),
    [
        (None, "null"),
        (True, "a boolean"),
        (1, "a number"),
        (1.5, "a number"),
        ("x", "a string"),
        ([], "an array"),
        ({}, "an object"),
    ],
)
def test_kind_of_a_value_is_told_without_the_value(document: object, kind: str) -> None:
    schema = {"type": "string" if document is None else "null"}

    assert _violation(schema, document).message.startswith(f"is {kind}, not")


def test_outermost_error_wins_and_the_first_of_its_equals() -> None:
    schema = {
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["c"],
    }

    assert _violation(schema, {"a": "", "b": ""}).keyword == "required"
    assert _violation(schema, {"a": "", "b": "", "c": 1}).pointer == "/a"


def test_union_is_explained_by_the_branch_that_came_closest() -> None:
    schema = {
        "anyOf": [{"type": "null"}, {"properties": {"a": {"type": "integer"}}, "type": "object"}]
    }

    assert _violation(schema, {"a": "x"}) == Violation("/a", "is a string, not integer", "type")


def test_document_is_never_quoted_at_length() -> None:
    schema = {"type": "object", "enum": ["y" * 500]}

    violation = _violation(schema, ["x" * 1_000])

    assert len(violation.message) < 120
    assert "xxx" not in violation.message


def test_text_is_shortened_and_can_be_written_as_utf8() -> None:
    assert shorten("x" * 90) == "x" * 79 + "…"
    assert shorten("\ud83d") == "?"


def test_long_pointer_is_shortened() -> None:
    assert len(json_pointer(["x" * 500, 3])) == 200
    assert json_pointer(["a", 3]) == "/a/3"
    assert escape("a/~") == "a~1~0"
