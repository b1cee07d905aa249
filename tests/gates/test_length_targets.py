from typing import Any

import pytest

from proxy.gates.base import Result
from proxy.gates.length import LengthGate, light_length_gate
from proxy.gates.length_options import LengthOptions
from proxy.gates.length_targets import FieldsElsewhere
from proxy.wire.reply import Choice, Reply, ToolCall
from proxy.wire.request import Request

JSON = Request(b"{}", messages=b"[]", response_format=b'{"type":"json_object"}')
PLAIN = Request(b"{}", messages=b"[]")
TITLE = {"of": "$.title", "unit": "words", "min": 2, "max": 4}
TEXT = {"of": "text", "unit": "graphemes", "max": 20}


def options(*targets: dict[str, Any]) -> LengthOptions:
    return LengthOptions.model_validate({"targets": targets})


def verdict(content: str, request: Request = JSON, **more: Any) -> Any:
    gate = light_length_gate(options(TITLE))
    return gate.judge(Reply((Choice(0, content, **more),)), request)


def test_gate_beside_streams_counts_whole_texts_and_no_fields() -> None:
    assert isinstance(light_length_gate(options(TITLE)), FieldsElsewhere)
    assert isinstance(light_length_gate(options(TITLE, TEXT)), LengthGate)


@pytest.mark.parametrize("content", ['{"title": 1}', '{"\\u0074itle": "x"}', '["\\u00e4"]'])
def test_reply_that_may_have_a_field_is_left_to_another_process(content: str) -> None:
    found = verdict(content)

    assert (found.result, found.gave_up) == (Result.ERROR, True)


def test_reply_that_certainly_has_no_field_is_passed_over() -> None:
    assert verdict('{"name": "x", "titles": ["a"]}').result is Result.SKIP


@pytest.mark.parametrize(
    "more", [{"refusal": "no"}, {"tool_calls": (ToolCall(0, "c", "f", "{}"),)}], ids=str
)
def test_what_is_no_answer_is_passed_over(more: dict[str, Any]) -> None:
    assert verdict('{"title": 1}', **more).result is Result.SKIP


def test_fields_are_for_promised_json_only() -> None:
    assert verdict('{"title": 1}', PLAIN).result is Result.SKIP
