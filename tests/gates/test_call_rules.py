from dataclasses import replace

import pytest

from proxy.errors import Fault
from proxy.gates.call_arguments import ArgumentsReader
from proxy.gates.call_rules import Contract, broken_rule, call_in_text
from proxy.gates.json_prefix import Limits
from proxy.gates.tool_contract import Mode, Tool, ToolChoice, compile_tool
from proxy.wire.reply import Choice, ToolCall

TOOLS = {"look": Tool("look"), "listen": Tool("listen")}
AUTO = ToolChoice(Mode.AUTO, frozenset(TOOLS))
NONE = ToolChoice(Mode.NONE, frozenset(TOOLS))
REQUIRED = ToolChoice(Mode.REQUIRED, frozenset(TOOLS))
NAMED = ToolChoice(Mode.REQUIRED, frozenset({"look"}), is_named=True)
LOOK = ToolCall(0, "a", "look", "{}")
LISTEN = ToolCall(1, "b", "listen", "{}")
MARKUP = "<tool_call>\n<function=look>\n</function>\n</tool_call>"
BARE = '{"name": "look", "arguments": {}}'


def _contract(choice: ToolChoice = AUTO, *, may_be_bare: bool = True) -> Contract:
    return Contract(TOOLS, choice, compile_tool, ArgumentsReader(Limits()), may_be_bare)


def _fault(choice: Choice, tool_choice: ToolChoice = AUTO) -> Fault | None:
    verdict = broken_rule(choice, _contract(tool_choice))
    return None if verdict is None else verdict.fault


def _called(*calls: ToolCall, finish_reason: str | None = "tool_calls") -> Choice:
    return Choice(0, None, tool_calls=calls, finish_reason=finish_reason)


def _said(content: str | None, finish_reason: str | None = "stop", reasoning: str = "") -> Choice:
    return Choice(0, content, reasoning=reasoning, finish_reason=finish_reason)


@pytest.mark.parametrize(
    ("choice", "tool_choice"),
    [
        pytest.param(_called(LOOK, LISTEN), AUTO, id="calls"),
        pytest.param(_called(LISTEN, LOOK), AUTO, id="calls-in-other-order"),
        pytest.param(replace(_called(LOOK), content="I look."), AUTO, id="call-and-text"),
        pytest.param(_called(LOOK), REQUIRED, id="required"),
        pytest.param(_called(LOOK, finish_reason="stop"), REQUIRED, id="required-stop"),
        pytest.param(_called(LOOK, finish_reason="stop"), NAMED, id="named-stop"),
        pytest.param(_called(LOOK), NAMED, id="named-tool-calls"),
        pytest.param(_called(LOOK, finish_reason="length"), AUTO, id="whole-call-at-the-limit"),
        pytest.param(_said("Gern geschehen."), AUTO, id="text"),
        pytest.param(_said("Es war", "length"), AUTO, id="cut-text"),
        pytest.param(_said(None, "length", "Hm"), AUTO, id="cut-reasoning"),
        pytest.param(_said("Hi.", reasoning=MARKUP), AUTO, id="call-in-reasoning-and-text"),
        pytest.param(replace(_called(LOOK), reasoning=MARKUP), AUTO, id="reasoned-and-called"),
        pytest.param(_said("Hi."), NONE, id="none"),
        pytest.param(_said("", reasoning=MARKUP), NONE, id="none-and-empty"),
    ],
)
def test_sound_choice_breaks_no_rule(choice: Choice, tool_choice: ToolChoice) -> None:
    assert broken_rule(choice, _contract(tool_choice)) is None


@pytest.mark.parametrize(
    ("calls", "place"),
    [
        pytest.param((LOOK, replace(LISTEN, id="a")), "tool_calls[1].id", id="same-id"),
        pytest.param((replace(LOOK, index=1),), "tool_calls", id="not-from-zero"),
        pytest.param((LOOK, replace(LISTEN, index=2)), "tool_calls", id="gap"),
        pytest.param((LOOK, replace(LISTEN, index=0)), "tool_calls", id="same-index"),
    ],
)
def test_ids_differ_and_indexes_count_from_zero(calls: tuple[ToolCall, ...], place: str) -> None:
    verdict = broken_rule(_called(*calls), _contract())

    assert verdict is not None
    assert verdict.fault is Fault.BAD_CALL_ID
    assert verdict.place == f"choices[0].message.{place}"


@pytest.mark.parametrize("content", [MARKUP, f"Well.\n{MARKUP}", BARE])
@pytest.mark.parametrize("tool_choice", [AUTO, REQUIRED, NONE], ids=["auto", "required", "none"])
def test_call_in_the_text_is_named_as_the_cause(content: str, tool_choice: ToolChoice) -> None:
    verdict = broken_rule(_said(content), _contract(tool_choice))

    assert verdict == call_in_text("choices[0].message.content")


def test_call_in_the_text_beside_others_is_lost_too() -> None:
    assert _fault(replace(_called(LOOK), content=MARKUP)) is Fault.CALL_IN_TEXT


def test_json_that_was_asked_for_is_no_call() -> None:
    assert broken_rule(_said(BARE), _contract(may_be_bare=False)) is None


@pytest.mark.parametrize(
    ("content", "fault"),
    [(MARKUP, Fault.CALL_IN_TEXT), (MARKUP[:-22] + "U", Fault.CALL_TRUNCATED)],
    ids=["whole", "cut"],
)
def test_call_in_the_text_that_the_limit_cut_is_truncated(content: str, fault: Fault) -> None:
    assert _fault(_said(content, "length")) is fault


@pytest.mark.parametrize("content", [None, "", " \n"])
@pytest.mark.parametrize("tool_choice", [AUTO, REQUIRED], ids=["auto", "required"])
def test_call_in_the_reasoning_is_named_where_there_is_nothing_else(
    content: str | None, tool_choice: ToolChoice
) -> None:
    choice = _said(content, reasoning=f"I call. {MARKUP} Then I wait.")

    assert _fault(choice, tool_choice) is Fault.CALL_IN_REASONING


@pytest.mark.parametrize(
    ("choice", "tool_choice", "fault"),
    [
        pytest.param(_said("", reasoning="Hm."), AUTO, Fault.MISSING_CALL, id="nothing"),
        pytest.param(_said(None, "tool_calls"), AUTO, Fault.MISSING_CALL, id="nothing-announced"),
        pytest.param(_said("Hi."), REQUIRED, Fault.MISSING_CALL, id="required"),
        pytest.param(_said("", "tool_calls"), REQUIRED, Fault.MISSING_CALL, id="announced"),
        pytest.param(_said("Hi.", "length"), REQUIRED, Fault.MISSING_CALL, id="prose-cut"),
        pytest.param(_said("Hi."), NAMED, Fault.MISSING_CALL, id="named"),
        pytest.param(_said("", "length", "Hm"), REQUIRED, Fault.CALL_TRUNCATED, id="cut-before"),
    ],
)
def test_call_that_had_to_come_is_missing(
    choice: Choice, tool_choice: ToolChoice, fault: Fault
) -> None:
    verdict = broken_rule(choice, _contract(tool_choice))

    assert verdict is not None
    assert verdict.fault is fault
    assert verdict.place == "choices[0].message.tool_calls"


def test_correction_names_the_tools_that_may_be_called() -> None:
    verdict = broken_rule(_said("Hi."), _contract(NAMED))

    assert verdict is not None
    assert verdict.feedback == "You must call a tool. Call: look."


@pytest.mark.parametrize(
    "choice",
    [
        pytest.param(_called(LOOK, finish_reason="stop"), id="stop"),
        pytest.param(_called(LOOK, finish_reason=None), id="none"),
        pytest.param(_said("Hi.", "tool_calls"), id="no-calls"),
    ],
)
def test_finish_reason_agrees_with_the_calls(choice: Choice) -> None:
    verdict = broken_rule(choice, _contract())

    assert verdict is not None
    assert verdict.fault is Fault.WRONG_FINISH_REASON
    assert verdict.place == "choices[0].finish_reason"
