import json
from typing import Any

import pytest

from proxy.errors import Fault
from proxy.gates.call_verdicts import call_again, failed, listed, place_of, quoted
from proxy.gates.tool_contract import Tool


def test_reason_is_the_place_and_its_predicate() -> None:
    verdict = failed(Fault.BAD_CALL_ID, place_of(1, 2), "is odd", "Again.")

    assert verdict.place == "choices[1].message.tool_calls[2]"
    assert verdict.reason == "choices[1].message.tool_calls[2] is odd."
    assert verdict.feedback == "Again."


def test_what_the_model_wrote_is_shortened() -> None:
    assert quoted("a" * 500).count("a") < 80
    assert len(listed(["a"] * 500)) == 400


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        pytest.param(
            {"properties": {"city": {"type": "string"}, "days": {}}, "required": ["city"]},
            " Its parameters: city (string, required), days.",
            id="types-and-needs",
        ),
        pytest.param(
            {"properties": {"a": {"type": ["string", "null"]}, "b": True}, "required": ["b"]},
            " Its parameters: a (string or null), b (required).",
            id="union",
        ),
        pytest.param({"properties": {"a": {"type": "string"}}}, " Its parameters: a (string)."),
        pytest.param({}, "", id="no-properties"),
        pytest.param({"properties": {}}, "", id="empty"),
    ],
)
def test_correction_tells_what_the_tool_expects(schema: dict[str, Any], told: str) -> None:
    correction = call_again(Tool("look", json.dumps(schema).encode()))

    assert correction == f"Call look again with one JSON object as arguments.{told}"


def test_correction_for_a_tool_without_schema_names_the_tool() -> None:
    assert call_again(Tool("look")) == "Call look again with one JSON object as arguments."
