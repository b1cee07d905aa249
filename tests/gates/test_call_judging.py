from dataclasses import replace

import pytest

from proxy.errors import Fault
from proxy.gates.base import Repair, Repaired, Result, Verdict
from proxy.gates.call_arguments import ArgumentsReader
from proxy.gates.call_judging import judge_choice, judge_one, was_cut
from proxy.gates.call_rules import Contract
from proxy.gates.json_prefix import Limits
from proxy.gates.tool_contract import Mode, Tool, ToolChoice, compile_tool
from proxy.wire.reply import Choice, Reply, ToolCall, Usage
from proxy.wire.request import read_request

SCHEMA = b'{"properties":{"at":{"type":"string"},"code":{"pattern":"(?=a)"}},"required":["at"]}'
TOOLS = {
    "look": Tool("look", SCHEMA),
    "wait": Tool("wait", b'{"properties":{"code":{"pattern":"(?=a)"}}}'),
    "sum": Tool("sum", b'{"properties":{"x":{"multipleOf":0.5}}}'),
    "two": Tool("two", repeats=True),
}
EVERY = frozenset(TOOLS)
LOOK = ToolCall(0, "a", "look", '{"at":"Ulm"}')
WAIT = ToolCall(1, "b", "wait", "")
AT = "choices[0].message.tool_calls"


def _contract(mode: Mode = Mode.AUTO, allowed: frozenset[str] = EVERY) -> Contract:
    choice = ToolChoice(mode, allowed, is_named=allowed == {"wait"})
    limits = Limits(max_integer_digits=4_000)
    reader = ArgumentsReader(limits, (Repair.EMPTY_ARGUMENTS, Repair.JSON_STRING))
    return Contract(TOOLS, choice, compile_tool, reader, may_be_bare=True)


def _judge(
    *calls: ToolCall, contract: Contract | None = None, was_cut: bool | None = False
) -> Verdict:
    choice = Choice(0, None, tool_calls=calls, finish_reason="tool_calls")
    return judge_choice(choice, contract or _contract(), was_cut=was_cut)


def test_sound_calls_pass_and_repairs_are_told_by_position() -> None:
    verdict = _judge(LOOK, WAIT)

    assert verdict.result is Result.PASS
    assert verdict.repaired == {0: Repaired(None, (Repair.EMPTY_ARGUMENTS,), {1: "{}"})}


def test_what_was_left_unchecked_is_told_once() -> None:
    two = ToolCall(2, "c", "two", "{}")

    verdict = _judge(LOOK, WAIT, two)

    assert verdict.unchecked == ("pattern at /properties/code", "parameters of tools with one name")


@pytest.mark.parametrize(
    "choice",
    [
        Choice(0, None, refusal="No.", tool_calls=(WAIT,)),
        Choice(0, None, finish_reason="content_filter"),
    ],
    ids=["refusal", "content-filter"],
)
def test_choice_that_promises_nothing_is_skipped(choice: Choice) -> None:
    assert judge_choice(choice, _contract(), was_cut=False).result is Result.SKIP


@pytest.mark.parametrize(
    ("call", "contract", "fault", "place"),
    [
        pytest.param(
            replace(LOOK, name="see"), _contract(), Fault.UNKNOWN_TOOL, "function.name", id="name"
        ),
        pytest.param(
            LOOK, _contract(Mode.NONE), Fault.UNKNOWN_TOOL, "function.name", id="choice-none"
        ),
        pytest.param(
            LOOK,
            _contract(allowed=frozenset({"two"})),
            Fault.UNKNOWN_TOOL,
            "function.name",
            id="not-allowed",
        ),
        pytest.param(
            LOOK,
            _contract(Mode.REQUIRED, frozenset({"wait"})),
            Fault.MISSING_CALL,
            "function.name",
            id="other-than-named",
        ),
        pytest.param(
            replace(LOOK, arguments='{"at":1}'),
            _contract(),
            Fault.ARGUMENTS_VIOLATE_SCHEMA,
            "function.arguments#/at",
            id="schema",
        ),
        pytest.param(
            replace(LOOK, arguments="{at}"),
            _contract(),
            Fault.ARGUMENTS_NOT_JSON,
            "function.arguments",
            id="json",
        ),
        pytest.param(
            replace(LOOK, arguments=""),
            _contract(),
            Fault.ARGUMENTS_NOT_JSON,
            "function.arguments",
            id="empty",
        ),
        pytest.param(replace(LOOK, id=""), _contract(), Fault.BAD_CALL_ID, "id", id="id"),
    ],
)
def test_call_that_cannot_be_executed_fails(
    call: ToolCall, contract: Contract, fault: Fault, place: str
) -> None:
    verdict = _judge(call, contract=contract)

    assert (verdict.result, verdict.fault) == (Result.FAIL, fault)
    assert verdict.place == f"{AT}[0].{place}"
    assert judge_one(call, contract) == verdict


def test_correction_says_what_is_wrong_and_what_is_expected() -> None:
    unknown = _judge(replace(LOOK, name="see"))
    wrong = _judge(replace(LOOK, arguments='{"at":1}'))
    empty = _judge(replace(LOOK, arguments=""))

    assert unknown.feedback == (
        'There is no tool "see". Call only these tools: look, wait, sum, two.'
    )
    assert wrong.feedback == (
        'In your call of "look", /at is a number, not string. Call look again with one JSON object '
        "as arguments. Its parameters: at (string, required), code."
    )
    assert empty.feedback.startswith('In your call of "look", the arguments text is empty')


@pytest.mark.parametrize(
    ("arguments", "cut", "fault"),
    [
        ('{"at":"U', True, Fault.CALL_TRUNCATED),
        ('{"at":"U', None, Fault.CALL_TRUNCATED),
        ('{"at":"U', False, Fault.ARGUMENTS_NOT_JSON),
        ("", True, Fault.CALL_TRUNCATED),
        ("", None, Fault.ARGUMENTS_NOT_JSON),
        ("{at", True, Fault.ARGUMENTS_NOT_JSON),
    ],
)
def test_call_is_truncated_where_the_limit_may_have_cut_it(
    arguments: str,
    cut: bool | None,
    fault: Fault,
) -> None:
    assert _judge(replace(LOOK, arguments=arguments), was_cut=cut).fault is fault


def test_only_the_last_call_can_be_cut() -> None:
    begun = replace(LOOK, arguments='{"at":"U')

    assert _judge(begun, WAIT, was_cut=True).fault is Fault.ARGUMENTS_NOT_JSON


def test_fault_of_a_call_comes_before_one_of_the_choice() -> None:
    calls = (replace(LOOK, id="b"), replace(WAIT, name="see"))

    assert _judge(*calls).fault is Fault.UNKNOWN_TOOL
    assert _judge(calls[0], WAIT).fault is Fault.BAD_CALL_ID


def test_schema_that_cannot_be_applied_is_an_error_unless_something_fails() -> None:
    undecided = ToolCall(0, "a", "sum", '{"x":1' + "0" * 400 + "}")

    alone, beside = _judge(undecided), _judge(undecided, replace(WAIT, id="a"))

    assert alone.result is Result.ERROR
    assert alone.reason.startswith(f"The schema cannot be applied to {AT}[0].function.arguments")
    assert beside.fault is Fault.BAD_CALL_ID


def test_one_call_by_itself_passes_with_its_repair() -> None:
    verdict = judge_one(WAIT, _contract())

    assert verdict.result is Result.PASS
    assert verdict.repaired == {0: Repaired(None, (Repair.EMPTY_ARGUMENTS,), {1: "{}"})}
    assert judge_one(LOOK, _contract()).repaired == {}


@pytest.mark.parametrize(
    ("finish_reason", "used", "limit", "choices", "cut"),
    [
        pytest.param("length", None, b"{}", 1, True, id="told"),
        pytest.param("stop", 24, b'{"max_tokens":24}', 1, False, id="stop"),
        pytest.param("tool_calls", 24, b'{"max_tokens":24}', 1, True, id="at-the-limit"),
        pytest.param("tool_calls", 23, b'{"max_tokens":24}', 1, False, id="below-the-limit"),
        pytest.param("tool_calls", None, b'{"max_tokens":24}', 1, None, id="no-usage"),
        pytest.param("tool_calls", 24, b"{}", 1, None, id="no-limit"),
        pytest.param("tool_calls", 40, b'{"max_tokens":24}', 2, None, id="usage-of-two"),
    ],
)
def test_cut_is_known_from_usage_where_the_reason_does_not_tell(
    finish_reason: str,
    used: int | None,
    limit: bytes,
    choices: int,
    cut: bool | None,
) -> None:
    choice = Choice(0, None, finish_reason=finish_reason)
    reply = Reply((choice,) * choices, None if used is None else Usage(1, used))

    assert was_cut(choice, reply, read_request(limit)) is cut
