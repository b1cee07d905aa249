import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema.validators import validator_for

from proxy.gates.schema import SchemaBounds, compile_schema
from proxy.gates.schema_accept import COVERED, Acceptor
from proxy.gates.schema_check import Steps, Unsure
from proxy.gates.schema_formats import TextFormat
from proxy.gates.schema_references import InvalidSchema
from tests.gates.schema_strategies import DIALECTS, VALUES, damaged, fitting, schemas

DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019, DRAFT_2020 = DIALECTS


def _acceptor(
    schema: object, *formats: TextFormat, bounds: SchemaBounds | None = None
) -> Acceptor | None:
    return compile_schema(json.dumps(schema).encode(), bounds, formats)._acceptor


def _accepts(schema: object, document: object, *formats: TextFormat) -> bool:
    acceptor = _acceptor(schema, *formats)
    assert acceptor is not None
    return acceptor.accepts(document)


RECORD = {
    "$schema": DRAFT_2020,
    "title": "An order",
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 1, "description": "counts from one"},
        "state": {"enum": ["open", "closed", None]},
        "note": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}], "default": None},
        "day": {"type": "string", "format": "date"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "minItems": 1},
    },
    "required": ["id", "lines"],
    "additionalProperties": False,
    "$defs": {
        "line": {
            "type": "object",
            "properties": {"code": {"pattern": "^[a-z]+$"}, "price": {"type": "number"}},
            "required": ["code"],
        }
    },
}
ORDER = {
    "id": 1.0,
    "state": None,
    "note": "now",
    "day": "2026-01-31",
    "lines": [{"code": "a", "price": 1}, {"code": "b", "extra": []}],
}


def test_document_that_fits_is_accepted() -> None:
    assert _accepts(RECORD, ORDER, TextFormat.DATE)


@pytest.mark.parametrize(
    "change",
    [
        {"id": 0},
        {"id": 1.5},
        {"id": True},
        {"state": "lost"},
        {"note": "longer"},
        {"note": 1},
        {"day": "today"},
        {"lines": []},
        {"lines": [{"code": "A"}]},
        {"lines": [{"code": "a"}, {"price": 1}]},
        {"other": 1},
    ],
    ids=str,
)
def test_document_that_does_not_fit_is_not_accepted(change: dict[str, object]) -> None:
    assert not _accepts(RECORD, ORDER | change, TextFormat.DATE)


def test_recursion_is_followed_through_the_document() -> None:
    schema = {
        "type": "object",
        "properties": {"next": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}},
        "required": ["next"],
    }

    assert _accepts(schema, {"next": {"next": {"next": None}}})
    assert not _accepts(schema, {"next": {"next": {"next": 1}}})


@pytest.mark.parametrize(
    ("draft", "schema", "document", "accepts"),
    [
        pytest.param(DRAFT_4, {"type": "integer"}, 1.0, False, id="float-is-no-integer"),
        pytest.param(DRAFT_6, {"type": "integer"}, 1.0, True, id="whole-float-is-an-integer"),
        pytest.param(DRAFT_4, {"const": 1}, 2, True, id="const-is-unknown"),
        pytest.param(DRAFT_6, {"const": 1}, 2, False, id="const"),
        pytest.param(DRAFT_6, {"if": True, "then": False}, 2, True, id="if-is-unknown"),
        pytest.param(DRAFT_7, {"if": True, "then": False}, 2, False, id="if"),
        pytest.param(
            DRAFT_7, {"$ref": "#/definitions/a", "type": "null"}, 1, True, id="siblings-are-ignored"
        ),
        pytest.param(
            DRAFT_2019, {"$ref": "#/definitions/a", "type": "null"}, 1, False, id="siblings-count"
        ),
        pytest.param(DRAFT_2019, {"items": [{"type": "null"}]}, [1], False, id="listed-items"),
        pytest.param(DRAFT_2019, {"prefixItems": [False]}, [1], True, id="prefix-is-unknown"),
        pytest.param(DRAFT_2020, {"prefixItems": [False]}, [1], False, id="prefix"),
        pytest.param(
            DRAFT_4, {"minimum": 1, "exclusiveMinimum": True}, 1, False, id="excluded-by-a-flag"
        ),
        pytest.param(DRAFT_6, {"exclusiveMinimum": 1}, 1, False, id="excluded-by-a-bound"),
    ],
)
def test_draft_decides_what_a_keyword_means(
    draft: str, schema: dict[str, object], document: object, *, accepts: bool
) -> None:
    whole = {"$schema": draft, "definitions": {"a": {"type": "integer"}}, **schema}

    assert _accepts(whole, document) is accepts


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"unevaluatedProperties": False}, id="unevaluated"),
        pytest.param({"contains": {"type": "null"}}, id="contains"),
        pytest.param({"items": {"$dynamicRef": "#"}}, id="dynamic"),
        pytest.param({"enum": [[1]]}, id="enumeration-of-arrays"),
        pytest.param({"pattern": "(?=a)"}, id="pattern-outside-re2"),
        pytest.param({"$defs": {"a": {"$id": "b"}}, "items": {"$ref": "b"}}, id="own-address"),
        pytest.param({"items": {"dependentSchemas": {}}}, id="deep-inside"),
    ],
)  # fmt: skip
def test_schema_with_something_uncommon_gets_no_acceptor(schema: object) -> None:
    assert _acceptor(schema) is None


def test_keywords_that_are_not_covered_are_those_of_the_page() -> None:
    known: set[str] = set().union(
        *(validator_for({"$schema": each}).VALIDATORS for each in DIALECTS)
    )
    page = Path(__file__).parents[2] / "docs" / "gates" / "strict_json.md"
    _, _, costs = page.read_text(encoding="utf-8").partition("## What it costs")

    named = set(re.findall(r"`(\$?[a-zA-Z]+)`", costs)) & known

    assert named - {"enum", "const"} == known - COVERED


def test_definition_that_nothing_applies_may_be_uncommon() -> None:
    assert _acceptor({"$defs": {"a": {"contains": {}}}, "type": "object"}) is not None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "any"},
        {"items": 5},
        {"allOf": {}},
        {"properties": {"a": 5}},
        {"minLength": "1"},
        {"enum": "ab"},
    ],
    ids=str,
)
def test_schema_that_was_checked_elsewhere_and_is_none_gets_no_acceptor(schema: object) -> None:
    assert _acceptor(schema, bounds=SchemaBounds(is_checked=True)) is None


def test_document_that_takes_too_many_steps_is_not_accepted() -> None:
    acceptor = _acceptor({"items": {"type": "integer"}}, bounds=SchemaBounds(max_steps=20))
    assert acceptor is not None

    assert acceptor.accepts([1] * 100)
    assert not acceptor.accepts([1] * 1_000)


@pytest.mark.parametrize(
    ("schema", "document"),
    [
        pytest.param({"uniqueItems": True}, [[], {}], id="containers"),
        pytest.param({"not": {"uniqueItems": True}}, [[], []], id="containers-negated"),
        pytest.param({"not": {"multipleOf": 0.5}}, 10**400, id="quotient-beyond-a-double"),
    ],
)
def test_what_no_check_can_tell_is_not_accepted(schema: object, document: object) -> None:
    assert not _accepts(schema, document)


def test_document_deeper_than_the_stack_is_not_accepted() -> None:
    document: list[object] = []
    for _ in range(900):
        document = [document]

    assert not _accepts({"items": {"$ref": "#"}}, document)


def test_chain_of_references_longer_than_the_stack_gets_no_acceptor() -> None:
    links: dict[str, object] = {
        f"a{number}": {"items": {"$ref": f"#/$defs/a{number + 1}"}} for number in range(900)
    }
    schema = {"$ref": "#/$defs/a0", "$defs": links | {"a900": {}}}

    assert _acceptor(schema) is None


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_acceptor_says_what_jsonschema_says(dialect: str, data: st.DataObject) -> None:
    schema = data.draw(schemas(dialect, COVERED | {"then", "else"}, depth_of_definitions=2))
    acceptor = _acceptor_if_any(schema)
    assume(acceptor is not None)
    assert acceptor is not None
    document = data.draw(fitting(schema))
    plain = validator_for(schema)(schema)

    for each in (document, data.draw(damaged(document)), data.draw(VALUES)):
        assert _certain(acceptor, each) in (plain.is_valid(each), None)


def _acceptor_if_any(schema: object) -> Acceptor | None:
    try:
        return _acceptor(schema, bounds=SchemaBounds(is_checked=True))
    except InvalidSchema:  # its references lead in a circle
        return None


def _certain(acceptor: Acceptor, document: Any) -> bool | None:
    """Also "no" must be certain, since under `not` it becomes a "yes"."""
    try:
        return acceptor._fits([document], Steps(10_000))
    except (Unsure, ArithmeticError):
        return None
