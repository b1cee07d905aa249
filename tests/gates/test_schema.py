import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from proxy.gates.schema import CompiledSchema, SchemaBounds, Undecided, compile_schema
from proxy.gates.schema_formats import TextFormat
from proxy.gates.schema_references import InvalidSchema
from proxy.gates.schema_violation import Violation


def _compile(schema: object, bounds: SchemaBounds | None = None) -> CompiledSchema:
    return compile_schema(json.dumps(schema).encode(), bounds)


def _fits(schema: object, document: object) -> bool:
    return _compile(schema).validate(document) is None


DRAFTS = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
    "https://example.test/dialect",
]


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_draft_is_applied(draft: str) -> None:
    schema = {"$schema": draft, "type": "object", "properties": {"a": {"type": "integer"}}}

    assert _fits(schema, {"a": 1})
    assert _compile(schema).validate({"a": "x"}) == Violation(
        "/a", "is a string, not integer", "type"
    )


def test_draft_decides_what_a_keyword_means() -> None:
    schema = {"minimum": 1, "exclusiveMinimum": True}

    assert not _fits({"$schema": DRAFTS[0], **schema}, 1)
    with pytest.raises(InvalidSchema):
        _compile(schema)


@pytest.mark.parametrize(("schema", "fits"), [(True, True), (False, False), ({}, True)])
def test_boolean_and_empty_schemas_decide(schema: object, fits: bool) -> None:
    assert _fits(schema, {"a": 1}) is fits


def test_part_that_names_a_draft_keeps_our_keywords() -> None:
    schema = {
        "$schema": DRAFTS[-2],
        "properties": {"a": {"$schema": DRAFTS[2], "pattern": r"^\u00fc$"}},
        "items": {"$ref": "#"},
    }

    assert _fits(schema, {"a": "ü"})
    assert not _fits(schema, [{"a": "u"}])


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        pytest.param(b"[]", "an object, true or false", id="array"),
        pytest.param(b'"x"', "an object, true or false", id="string"),
        pytest.param(b"{", "not a JSON document", id="broken"),
        pytest.param(b'{"minimum": NaN}', "not a JSON document", id="nan"),
        pytest.param(b'{"minimum": ' + b"9" * 5_000 + b"}", "not a JSON document", id="digits"),
        pytest.param(b"[" * 100_000, "not a JSON document", id="beyond-the-stack"),
        pytest.param(b'{"const":' + b"[" * 64 + b"]" * 64 + b"}", "deeper than 64", id="depth"),
        pytest.param(b'{"title": "' + b"x" * 300_000 + b'"}', "larger than", id="size"),
        pytest.param(b'{"type": "strnig"}', "is none of", id="unknown-type"),
        pytest.param(b'{"$schema": 5}', "is a number, not string", id="schema-is-no-address"),
        pytest.param(b'{"$ref": "#/x", "x": {"type": 5}}', "a part of", id="target-is-no-schema"),
    ],
)
def test_what_is_no_schema_is_refused(raw: bytes, message: str) -> None:
    with pytest.raises(InvalidSchema, match=message):
        compile_schema(raw)


@pytest.mark.parametrize(
    ("draft", "keyword"),
    [
        (DRAFTS[0], "propertyNames"),
        (DRAFTS[1], "if"),
        (DRAFTS[2], "$defs"),
        (DRAFTS[2], "unevaluatedItems"),
        (DRAFTS[3], "prefixItems"),
        (DRAFTS[4], "additionalItems"),
    ],
)
@pytest.mark.parametrize(
    "part",
    [5, {"$id": False}, {"a": {"$id": False}}, [{"id": 5, "$id": 5}], {"patternProperties": 5}],
    ids=json.dumps,
)
def test_keyword_that_the_draft_does_not_know_may_hold_anything(
    draft: str, keyword: str, part: object
) -> None:
    assert _fits({"$schema": draft, keyword: part, "items": {keyword: part}}, [1])


def test_refusal_names_the_place() -> None:
    with pytest.raises(InvalidSchema) as refused:
        _compile({"properties": {"a": {"minLength": -1}}})

    assert refused.value.pointer == "/properties/a/minLength"
    assert refused.value.message == "a part of the schema does not satisfy minimum 0"


def test_numbers_of_subschemas_and_patterns_are_bounded() -> None:
    schema = {"properties": {name: {"pattern": name} for name in "abcd"}}

    with pytest.raises(InvalidSchema, match="more than 4 subschemas"):
        _compile(schema, SchemaBounds(max_subschemas=4))
    with pytest.raises(InvalidSchema, match="more than 3 patterns"):
        _compile(schema, SchemaBounds(max_patterns=3))


def test_schema_nested_beyond_the_stack_is_refused() -> None:
    schema: object = {}
    for _ in range(400):
        schema = {"items": schema}

    with pytest.raises(InvalidSchema, match="nested too deeply"):
        _compile(schema, SchemaBounds(max_depth=1_000))


@pytest.mark.parametrize("document", [1, 1.0, 1e3, -0.0])
def test_number_without_a_fraction_is_an_integer(document: float) -> None:
    assert _fits({"type": "integer"}, document)


def test_format_is_only_an_annotation() -> None:
    assert _fits({"format": "email"}, "no address")


def test_keywords_hold_without_a_type() -> None:
    schema = {
        "properties": {
            "code": {"pattern": "^[a-z]+$", "maxLength": 3},
            "tags": {"allOf": [{"type": "array"}, {"minItems": 1}]},
        }
    }

    assert _fits(schema, {"code": "abc", "tags": ["x"]})
    assert not _fits(schema, {"code": "abcdefghij", "tags": ["x"]})
    assert not _fits(schema, {"code": "abc", "tags": []})


def test_schema_that_multiplies_work_is_undecided() -> None:
    doubling: dict[str, object] = {
        f"a{level}": {"allOf": [{"$ref": f"#/$defs/a{level + 1}"}] * 2} for level in range(40)
    }
    schema = {"$ref": "#/$defs/a0", "$defs": doubling | {"a40": {"type": "integer"}}}

    with pytest.raises(Undecided, match="too many steps"):
        _compile(schema, SchemaBounds(max_steps=2_000)).validate(1)


def test_document_nested_beyond_the_stack_is_undecided() -> None:
    document: list[object] = []
    for _ in range(900):
        document = [document]

    with pytest.raises(Undecided, match="nested too deeply"):
        _compile({"items": {"$ref": "#"}}).validate(document)


def test_number_that_a_keyword_cannot_divide_is_undecided() -> None:
    with pytest.raises(Undecided, match="cannot be applied"):
        _compile({"multipleOf": 0.5}).validate(10**400)


def test_common_document_that_fits_takes_few_steps() -> None:
    schema = _compile({"items": {"type": "integer"}}, SchemaBounds(max_steps=50))

    assert schema.validate([1] * 200) is None
    with pytest.raises(Undecided):
        schema.validate([1] * 199 + ["x"])


def test_each_validation_has_its_own_steps() -> None:
    schema = _compile({"items": {"type": "integer"}}, SchemaBounds(max_steps=50))

    assert [schema.validate([1] * 20) for _ in range(10)] == [None] * 10


@pytest.mark.parametrize(
    ("schema", "unchecked"),
    [
        pytest.param({"pattern": "^a$"}, (), id="nothing"),
        pytest.param({"pattern": "(?=a)"}, ("pattern at the top",), id="pattern"),
        pytest.param(
            {"properties": {"code": {"pattern": "(?=a)"}}},
            ("pattern at /properties/code",),
            id="pattern-inside",
        ),
        pytest.param(
            {"patternProperties": {"(?=a)": {}}, "additionalProperties": False},
            ("additionalProperties at the top", "patternProperties at the top"),
            id="names",
        ),
        pytest.param(
            {"patternProperties": {"(?=a)": {}}}, ("patternProperties at the top",), id="names-only"
        ),
        pytest.param(
            {"allOf": [{"patternProperties": {"(?=a)": {}}}], "unevaluatedProperties": False},
            ("patternProperties at /allOf/0", "unevaluatedProperties at the top"),
            id="unevaluated",
        ),
        pytest.param(
            {"properties": {"a": {"pattern": "(?=a)"}}, "unevaluatedProperties": False},
            ("pattern at /properties/a", "unevaluatedProperties at the top"),
            id="unevaluated-beside-a-value",
        ),
        pytest.param(
            {"not": {"pattern": "(?=a)"}}, ("not at the top", "pattern at /not"), id="not"
        ),
        pytest.param(
            {"if": {"$ref": "#/$defs/a"}, "$defs": {"a": {"pattern": "(?=a)"}}},
            ("if at the top", "pattern at /$defs/a"),
            id="if-through-a-reference",
        ),
        pytest.param(
            {"oneOf": [{"pattern": "(?=a)"}, {"type": "null"}]},
            ("oneOf at the top", "pattern at /oneOf/0"),
            id="one-of",
        ),
        pytest.param(
            {"contains": {"pattern": "(?=a)"}, "maxContains": 1},
            ("contains at the top", "pattern at /contains"),
            id="contains-at-most",
        ),
        pytest.param(
            {"contains": {"pattern": "(?=a)"}}, ("pattern at /contains",), id="contains-at-least"
        ),
    ],
)
def test_what_re2_cannot_decide_is_listed(schema: object, unchecked: tuple[str, ...]) -> None:
    assert _compile(schema).unchecked == unchecked


RECORD = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2, "maxLength": 12},
        "population": {"type": "integer", "minimum": 0, "multipleOf": 2},
        "tags": {"type": "array", "items": {"enum": ["a", "b", 1]}, "uniqueItems": True},
    },
    "required": ["city"],
    "additionalProperties": False,
}
UNION = {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 3}, {"const": None}]}
NAMES = {
    "type": "object",
    "patternProperties": {"^x": {"type": "integer"}},
    "properties": {"a": {"type": "boolean"}},
    "additionalProperties": {"type": "string"},
}
TUPLE = {"type": "array", "prefixItems": [{"type": "null"}], "items": {"not": {"type": "string"}}}
LINKED = {
    "type": "object",
    "properties": {"next": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}, "v": {"type": "number"}},
    "required": ["v"],
    "unevaluatedProperties": False,
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats(-2, 9) | st.sampled_from("abx"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["city", "tags", "x1", "a", "next", "v"]), inner)
    ),
    max_leaves=6,
)
FITTING: dict[str, st.SearchStrategy[Any]] = {
    "record": st.fixed_dictionaries(
        {"city": st.text(min_size=2, max_size=12)},
        optional={
            "population": st.integers(0, 10**30).map(lambda half: half * 2),
            "tags": st.lists(st.sampled_from(["a", "b", 1]), unique=True),
        },
    ),
    "union": st.none() | st.integers(max_value=2) | st.floats(3.1, 3.9),
    "names": st.fixed_dictionaries(
        {}, optional={"x1": st.integers(), "a": st.booleans(), "b": st.text()}
    ),
    "tuple": st.lists(st.none() | st.integers()).map(lambda items: [None, *items]),
    "linked": st.recursive(
        st.just({"v": 1}),
        lambda inner: st.fixed_dictionaries({"v": st.floats(0, 9), "next": st.none() | inner}),
        max_leaves=4,
    ),
}


@st.composite
def _nearly(draw: st.DrawFn, fitting: st.SearchStrategy[Any]) -> Any:
    document = draw(fitting)
    if isinstance(document, dict) and document:
        return document | {draw(st.sampled_from(["city", "v", "x2", *document])): draw(ANYTHING)}
    return [*document, draw(ANYTHING)] if isinstance(document, list) else draw(ANYTHING)


@pytest.mark.parametrize(
    ("schema", "kind"),
    [(RECORD, "record"), (UNION, "union"), (NAMES, "names"), (TUPLE, "tuple"), (LINKED, "linked")],
    ids=["record", "union", "names", "tuple", "linked"],
)
@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_verdict_agrees_with_jsonschema(
    schema: dict[str, Any], kind: str, data: st.DataObject
) -> None:
    fitting = data.draw(FITTING[kind])
    other = data.draw(_nearly(FITTING[kind]))

    assert _fits(schema, fitting)
    assert _fits(schema, other) == Draft202012Validator(schema).is_valid(other)


@pytest.mark.parametrize("draft", DRAFTS)
def test_asserted_format_decides_in_every_draft(draft: str) -> None:
    schema = {
        "$schema": draft,
        "properties": {"day": {"format": "date"}, "to": {"format": "email"}},
    }
    compiled = compile_schema(json.dumps(schema).encode(), formats=[TextFormat.DATE])

    assert compiled.validate({"day": "2026-01-31", "to": "nobody"}) is None
    assert compiled.validate({"day": "today"}) == Violation(
        "/day", 'does not satisfy format "date"', "format"
    )
