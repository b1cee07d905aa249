import json
from typing import Any

import pytest
from pydantic import ValidationError

from proxy.errors import Fault, InvalidRequest
from proxy.gates.base import Repair, Repaired, Result
from proxy.gates.tool_calls import ToolCallsGate, ToolCallsOptions
from proxy.wire.reply import Choice, Reply, ToolCall, Usage
from proxy.wire.request import Request, read_request

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = [
    {"type": "function", "function": {"name": "weather", "parameters": CITY}},
    {"type": "function", "function": {"name": "light_on"}},
]
ULM = ToolCall(0, "c1", "weather", '{"city":"Ulm"}')
BROKEN_HISTORY = [
    {"role": "user", "content": "Hi."},
    {"role": "assistant", "tool_calls": [{"function": {"name": "weather", "arguments": '{"ci'}}]},
]
BROKEN_PLACE = "messages[1].tool_calls[0].function.arguments"


def _request(**members: Any) -> Request:
    return read_request(json.dumps({"tools": TOOLS, **members}).encode())


def _gate(**options: Any) -> ToolCallsGate:
    return ToolCallsGate(ToolCallsOptions.model_validate(options))


def _reply(
    *calls: ToolCall, finish_reason: str = "tool_calls", usage: Usage | None = None
) -> Reply:
    return Reply((Choice(0, None, tool_calls=calls, finish_reason=finish_reason),), usage)


def test_gate_applies_where_tools_are_offered() -> None:
    gate = _gate()

    assert gate.name == "tool_calls"
    assert gate.applies(_request())
    assert gate.applies(_request(tool_choice="none"))
    assert not gate.applies(_request(tools=[]))
    assert not gate.applies(_request(tools=None))
    assert not gate.applies(Request(b"{}"))


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"tools": "weather"}, "tools"),
        ({"tools": [*TOOLS, {"function": {}}]}, "tools[2].function.name"),
        (
            {"tools": [{"function": {"name": "a", "parameters": {"type": "text"}}}]},
            "tools[0].function.parameters",
        ),
        ({"tool_choice": "any"}, "tool_choice"),
        (
            {"tool_choice": {"type": "function", "function": {"name": "a"}}},
            "tool_choice.function.name",
        ),
    ],
    ids=["tools", "name", "parameters", "choice", "named"],
)
def test_unusable_contract_is_refused_before_the_upstream_is_asked(
    members: dict[str, Any], param: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        _gate().applies(_request(**members))

    assert refused.value.param == param


def test_broken_history_is_refused_where_the_policy_says_so() -> None:
    request = _request(messages=BROKEN_HISTORY)

    assert _gate().applies(request)
    assert _gate(history="reject").applies(_request(messages=BROKEN_HISTORY[:1]))
    with pytest.raises(InvalidRequest) as refused:
        _gate(history="reject").applies(request)
    assert refused.value.param == BROKEN_PLACE


def test_broken_history_is_told_and_blocks_nothing() -> None:
    verdict = _gate().judge(_reply(ULM), _request(messages=BROKEN_HISTORY * 9))

    assert verdict.result is Result.PASS
    assert verdict.warnings[0] == f"{BROKEN_PLACE} is not JSON"
    assert len(verdict.warnings) == 5


def test_sound_reply_passes() -> None:
    verdict = _gate().judge(_reply(ULM, ToolCall(1, "c2", "light_on", "{}")), _request())

    assert (verdict.result, verdict.repaired, verdict.warnings) == (Result.PASS, {}, ())


def test_repairs_and_coercions_are_those_of_the_policy() -> None:
    calls = (
        ToolCall(0, "c1", "light_on", ""),
        ToolCall(1, "c2", "weather", '"{\\"city\\":\\"Ulm\\"}"'),
    )
    gate = _gate(repair=["empty_arguments"], coerce=["json_string"])

    verdict = gate.judge(_reply(*calls), _request())

    repairs = (Repair.EMPTY_ARGUMENTS, Repair.JSON_STRING)
    assert verdict.repaired == {0: Repaired(None, repairs, {0: "{}", 1: '{"city":"Ulm"}'})}
    assert _gate().judge(_reply(*calls), _request()).fault is Fault.ARGUMENTS_NOT_JSON


def test_every_choice_is_judged() -> None:
    choices = (*_reply(ULM).choices, Choice(1, "<tool_call>\n<function=weather>"))

    verdict = _gate().judge(Reply(choices), _request())

    assert (verdict.fault, verdict.place) == (Fault.CALL_IN_TEXT, "choices[1].message.content")


@pytest.mark.parametrize(
    ("used", "fault"), [(24, Fault.CALL_TRUNCATED), (9, Fault.ARGUMENTS_NOT_JSON)]
)
def test_usage_tells_a_cut_call_from_a_broken_one(used: int, fault: Fault) -> None:
    reply = _reply(ToolCall(0, "c1", "weather", '{"city":"Ul'), usage=Usage(5, used))

    assert _gate().judge(reply, _request(max_tokens=24)).fault is fault


def test_reply_with_an_error_object_and_other_requests_are_skipped() -> None:
    assert _gate().judge(Reply(error="{}"), _request()).result is Result.SKIP
    assert _gate().judge(_reply(ULM), Request(b"{}")).result is Result.SKIP
    assert _gate().judge_call(ULM, Request(b"{}")).result is Result.SKIP


def test_reply_without_choices_lacks_the_call() -> None:
    verdict = _gate().judge(Reply(), _request())

    assert (verdict.fault, verdict.place) == (Fault.MISSING_CALL, "choices")


def test_limits_of_the_policy_hold() -> None:
    assert _gate(max_bytes=8).judge(_reply(ULM), _request()).fault is Fault.ARGUMENTS_NOT_JSON


def test_one_call_is_judged_before_the_reply_is_over() -> None:
    unknown = ToolCall(1, "c2", "forecast", "{}")

    assert _gate().judge_call(ULM, _request()).result is Result.PASS
    verdict = _gate().judge_call(unknown, _request())
    assert verdict.place == "choices[0].message.tool_calls[1].function.name"


def test_watch_tells_the_same_as_the_verdict_on_the_whole() -> None:
    content = "Well.\n<function=weather>"
    watch = _gate().watch(_request())
    assert watch is not None

    told = [watch.feed(0, character) for character in content]

    assert told[-1] == _gate().judge(Reply((Choice(0, content),)), _request())
    assert not any(told[:-1])


def test_json_that_was_asked_for_is_neither_suspect_nor_a_call() -> None:
    content = '{"name": "weather", "arguments": {"city": "Ulm"}}'
    plain, asked = _request(), _request(response_format={"type": "json_object"})
    reply = Reply((Choice(0, content, finish_reason="stop"),))
    suspects = []

    for request in (plain, asked):
        watch = _gate().watch(request)
        assert watch is not None
        assert watch.feed(0, content) is None
        suspects.append(watch.suspects(0))

    assert suspects == [True, False]
    assert _gate().judge(reply, plain).fault is Fault.CALL_IN_TEXT
    assert _gate().judge(reply, asked).result is Result.PASS


def test_requests_without_tools_are_not_watched() -> None:
    assert _gate().watch(Request(b"{}")) is None


@pytest.mark.parametrize(
    "options",
    [
        {"repair": ["unwrap_fence"]},
        {"coerce": ["empty_arguments"]},
        {"history": "drop"},
        {"max_depth": 0},
        {"max_whitespace_run": 5},
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ToolCallsOptions.model_validate(options)
