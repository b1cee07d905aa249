"""Judges each tool call of a choice, then the choice as a whole."""

from collections.abc import Mapping

from proxy.errors import Fault
from proxy.gates.base import Repaired, Result, Verdict
from proxy.gates.call_arguments import Sound, Unsound
from proxy.gates.call_rules import Contract, broken_rule
from proxy.gates.call_verdicts import BE_SHORT, GATE, call_again, failed, place_of, quoted
from proxy.gates.schema import Undecided
from proxy.gates.tool_contract import Mode, Tool
from proxy.wire.reply import Choice, Reply, ToolCall
from proxy.wire.request import Request


def was_cut(choice: Choice, reply: Reply, request: Request) -> bool | None:
    """Whether the token limit ended a choice; None when nothing is known either way.

    vLLM streams `tool_calls` as the reason of a call that the limit cut.
    """
    if choice.finish_reason != "tool_calls":
        return choice.finish_reason == "length"
    used, limit = reply.usage, request.token_limit
    if used is None or limit is None:
        return None
    if used.completion_tokens < limit:
        return False
    return True if len(reply.choices) == 1 else None  # usage counts all choices together


def judge_choice(choice: Choice, contract: Contract, *, was_cut: bool | None) -> Verdict:
    """Only the last call of a choice can have been cut."""
    if choice.refusal or choice.finish_reason == "content_filter":
        return Verdict(GATE, Result.SKIP)
    last = len(choice.tool_calls) - 1
    found = [
        _judge(call, place_of(choice.index, at), contract, was_cut=at == last and was_cut)
        for at, call in enumerate(choice.tool_calls)
    ]
    verdicts = [each for each in found if isinstance(each, Verdict)]
    faults = [verdict for verdict in verdicts if verdict.result is Result.FAIL]
    broken = None if faults else broken_rule(choice, contract)
    decisive = [*faults, *([broken] if broken is not None else []), *verdicts]
    if decisive:
        return decisive[0]
    sound = {at: each for at, each in enumerate(found) if isinstance(each, Sound)}
    unchecked = _unchecked(choice.tool_calls, contract)
    return _passed(choice.index, sound, unchecked)


def judge_one(call: ToolCall, contract: Contract) -> Verdict:
    """One call by itself, as if it were in the first choice."""
    found = _judge(call, place_of(0, call.index), contract, was_cut=False)
    if isinstance(found, Verdict):
        return found
    return _passed(0, {call.index: found}, _unchecked((call,), contract))


def _judge(
    call: ToolCall, place: str, contract: Contract, *, was_cut: bool | None
) -> Verdict | Sound:
    if fault := _wrong_name(call, f"{place}.function.name", contract):
        return fault
    tool = contract.tools[call.name]
    place_of_arguments = f"{place}.function.arguments"
    try:
        reading = contract.reader.read(call.arguments, contract.compile(tool))
    except Undecided as undecided:
        reason = f"The schema cannot be applied to {place_of_arguments}: {undecided}."
        return Verdict(GATE, Result.ERROR, reason=reason, place=place_of_arguments, gave_up=True)
    if isinstance(reading, Unsound):
        return _wrong_arguments(tool, reading, place_of_arguments, was_cut=was_cut)
    if not call.id:
        return failed(Fault.BAD_CALL_ID, f"{place}.id", "is missing", call_again(tool))
    return reading


def _wrong_name(call: ToolCall, place: str, contract: Contract) -> Verdict | None:
    choice = contract.choice
    if choice.mode is Mode.NONE:
        predicate = "calls a tool though `tool_choice` is none"
        return failed(Fault.UNKNOWN_TOOL, place, predicate, "Answer without calling a tool.")
    feedback = f"Call only these tools: {contract.callable_names}."
    if call.name not in contract.tools:
        predicate = f"is {quoted(call.name)}, which is no tool of the request"
        feedback = f"There is no tool {quoted(call.name)}. {feedback}"
        return failed(Fault.UNKNOWN_TOOL, place, predicate, feedback)
    if call.name not in choice.allowed:
        fault = Fault.MISSING_CALL if choice.is_named else Fault.UNKNOWN_TOOL
        predicate = f"is {quoted(call.name)}, which `tool_choice` does not allow"
        return failed(fault, place, predicate, feedback)
    return None


def _wrong_arguments(tool: Tool, wrong: Unsound, place: str, *, was_cut: bool | None) -> Verdict:
    is_cut = wrong.is_begun and was_cut is not False
    if is_cut or (wrong.is_empty and was_cut):
        return failed(Fault.CALL_TRUNCATED, place, "ends before it is complete", BE_SHORT)
    at = f"{place}#{wrong.pointer}" if wrong.pointer else place
    subject = f"In your call of {quoted(tool.name)}, {wrong.pointer or 'the arguments text'}"
    feedback = f"{subject} {wrong.predicate}. {call_again(tool)}"
    return failed(wrong.fault, at, wrong.predicate, feedback)


def _passed(choice: int, sound: Mapping[int, Sound], unchecked: tuple[str, ...]) -> Verdict:
    arguments = {at: each.text for at, each in sound.items() if each.text is not None}
    repairs = tuple(repair for each in sound.values() for repair in each.repairs)
    repaired = {choice: Repaired(None, repairs, arguments)} if repairs else {}
    return Verdict(GATE, Result.PASS, repaired=repaired, unchecked=unchecked)


def _unchecked(calls: tuple[ToolCall, ...], contract: Contract) -> tuple[str, ...]:
    """What no verdict on these calls covers."""
    found: dict[str, None] = {}
    for tool in (contract.tools[call.name] for call in calls):
        schema = contract.compile(tool)
        found |= dict.fromkeys(schema.unchecked if schema is not None else ())
        if tool.repeats:
            found["parameters of tools with one name"] = None
    return tuple(found)
