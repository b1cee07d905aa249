"""The rules that a choice as a whole keeps when tools were offered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from proxy.errors import Fault
from proxy.gates.base import Verdict
from proxy.gates.call_arguments import ArgumentsReader
from proxy.gates.call_markup import CallScanner
from proxy.gates.call_text import find_call
from proxy.gates.call_verdicts import BE_SHORT, failed, listed, place_of
from proxy.gates.schema import CompiledSchema
from proxy.gates.tool_contract import Mode, Tool, ToolChoice
from proxy.wire.reply import Choice


@dataclass(frozen=True, slots=True)
class Contract:
    """What one request promises of tools, and how the policy reads arguments.

    `may_be_bare`: no JSON was asked for, so a text that is one JSON document may be a call.
    """

    tools: Mapping[str, Tool]
    choice: ToolChoice
    compile: Callable[[Tool], CompiledSchema | None]
    reader: ArgumentsReader
    may_be_bare: bool

    @property
    def callable_names(self) -> str:
        """The names for the model, in the order of the request."""
        return listed(name for name in self.tools if name in self.choice.allowed)


def broken_rule(choice: Choice, contract: Contract) -> Verdict | None:
    """The first rule on the choice as a whole that is broken."""
    broken = (rule(choice, contract) for rule in _RULES)
    return next((verdict for verdict in broken if verdict is not None), None)


def call_in_text(place: str) -> Verdict:
    feedback = "Your text holds a tool call. Call the tool itself, in the format for tool calls."
    return failed(Fault.CALL_IN_TEXT, place, "holds a tool call as text", feedback)


def _wrong_ids(choice: Choice, _: Contract) -> Verdict | None:
    feedback = "Call the tools again."
    seen: set[str] = set()
    for position, call in enumerate(choice.tool_calls):
        if call.id in seen:
            place = f"{place_of(choice.index, position)}.id"
            return failed(Fault.BAD_CALL_ID, place, "repeats the id of another call", feedback)
        seen.add(call.id)
    indexes = sorted(call.index for call in choice.tool_calls)
    if indexes != list(range(len(indexes))):
        place = f"choices[{choice.index}].message.tool_calls"
        predicate = "has indexes that do not count from 0"
        return failed(Fault.BAD_CALL_ID, place, predicate, feedback)
    return None


def _call_left_in_text(choice: Choice, contract: Contract) -> Verdict | None:
    content = choice.content or ""
    limits = contract.reader.limits
    found = find_call(content, contract.tools, limits, may_be_bare=contract.may_be_bare)
    if found is None:
        return None
    place = f"choices[{choice.index}].message.content"
    if choice.finish_reason == "length" and not found.is_closed:
        return failed(Fault.CALL_TRUNCATED, place, "was cut inside a tool call", BE_SHORT)
    return call_in_text(place)


def _call_left_in_reasoning(choice: Choice, contract: Contract) -> Verdict | None:
    """Only where the reply has nothing else: thinking aloud of calls is no fault."""
    if not _is_void(choice) or contract.choice.mode is Mode.NONE:
        return None
    scanner = CallScanner(contract.tools)
    if scanner.feed(choice.reasoning) is None and scanner.finish(anywhere=True) is None:
        return None
    place = f"choices[{choice.index}].message.reasoning"
    feedback = "You called a tool in your reasoning. Call it after your reasoning."
    return failed(Fault.CALL_IN_REASONING, place, "holds the tool call", feedback)


def _missing_call(choice: Choice, contract: Contract) -> Verdict | None:
    mode = contract.choice.mode
    if choice.tool_calls or mode is Mode.NONE:
        return None
    place = f"choices[{choice.index}].message.tool_calls"
    if mode is Mode.REQUIRED:
        if choice.finish_reason == "length" and not (choice.content or "").strip():
            predicate = "is missing: the token limit was reached before the call"
            return failed(Fault.CALL_TRUNCATED, place, predicate, BE_SHORT)
        predicate = "is missing though `tool_choice` demands a call"
        feedback = f"You must call a tool. Call: {contract.callable_names}."
        return failed(Fault.MISSING_CALL, place, predicate, feedback)
    if not _is_void(choice):
        return None
    feedback = f"Your answer was empty. Answer in text or call a tool: {contract.callable_names}."
    return failed(Fault.MISSING_CALL, place, "is missing, and there is no text either", feedback)


def _wrong_finish(choice: Choice, contract: Contract) -> Verdict | None:
    """A call that was demanded may end with `stop`: OpenAI and vLLM do so for a named tool."""
    place = f"choices[{choice.index}].finish_reason"
    if not choice.tool_calls and choice.finish_reason == "tool_calls":
        predicate = "is tool_calls, but there are none"
        return failed(Fault.WRONG_FINISH_REASON, place, predicate, "Answer, or call a tool.")
    may_stop = contract.choice.mode is Mode.REQUIRED
    if choice.tool_calls and choice.finish_reason in (None, "stop") and not may_stop:
        predicate = f"is {choice.finish_reason or 'missing'}, though tools are called"
        return failed(Fault.WRONG_FINISH_REASON, place, predicate, "Call the tools again.")
    return None


def _is_void(choice: Choice) -> bool:
    """Neither text nor call, and not for want of tokens."""
    has_text = bool((choice.content or "").strip())
    return not has_text and not choice.tool_calls and choice.finish_reason != "length"


_RULES = (_wrong_ids, _call_left_in_text, _call_left_in_reasoning, _missing_call, _wrong_finish)
