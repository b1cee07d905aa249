"""The rules that one choice of a reply keeps when tools were offered."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from proxy.errors import Fault
from proxy.gates.bare_call import is_bare_call
from proxy.gates.base import Repaired, Result, Verdict
from proxy.gates.call_arguments import ArgumentsReader, Sound, Unsound
from proxy.gates.call_markup import CallScanner
from proxy.gates.call_verdicts import GATE, call_again, failed, listed, quoted
from proxy.gates.schema import CompiledSchema, Undecided
from proxy.gates.tool_contract import Mode, Tool, ToolChoice
from proxy.wire.reply import Choice, ToolCall

_CALL_IT = "Call the tool itself; do not write the call into your text."
_BE_SHORT = "The token limit cut your tool call. Call the tool again with shorter arguments."


@dataclass(frozen=True, slots=True)
class ToolContract:
    """What one request promises of tools, and how this policy reads arguments.

    `allows_json`: a text that is a JSON document was not asked for, so it may be a lost call.
    """

    tools: Mapping[str, Tool]
    choice: ToolChoice
    reader: ArgumentsReader
    compile: Callable[[Tool], CompiledSchema | None]
    judges_bare_json: bool = True

    @property
    def callable_names(self) -> list[str]:
        if self.choice.mode is Mode.NONE:
            return []
        return [name for name in self.tools if name in self.choice.allowed]


def judge_choice(choice: Choice, contract: ToolContract, *, was_cut: bool | None) -> Verdict:
    """`was_cut`: whether the token limit ended the generation; None when that is not known."""
    if choice.refusal or choice.finish_reason == "content_filter":
        return Verdict(GATE, Result.SKIP)
    last = len(choice.tool_calls) - 1
    verdicts = [
        judge_call(call, _place(choice, at), contract, was_cut=was_cut if at == last else False)
        for at, call in enumerate(choice.tool_calls)
    ]
    faults = [verdict for verdict in verdicts if verdict.result is Result.FAIL]
    faults += [fault for rule in _RULES if (fault := rule(choice, contract)) is not None][:1]
    errors = [verdict for verdict in verdicts if verdict.result is Result.ERROR]
    return next(iter((*faults, *errors)), None) or _passed(choice, verdicts)
