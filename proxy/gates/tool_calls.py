"""The gate `tool_calls`: every tool call of a reply can be executed, and none is left in a text."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import override

from proxy.errors import Fault, InvalidRequest
from proxy.gates import call_verdicts
from proxy.gates.base import Gate, JudgesCalls, Repair, Result, TextWatch, Verdict, sum_up
from proxy.gates.call_arguments import ArgumentsReader
from proxy.gates.call_history import broken_history
from proxy.gates.call_judging import judge_choice, judge_one, was_cut
from proxy.gates.call_rules import Contract, call_in_text
from proxy.gates.call_watch import CallWatch
from proxy.gates.json_prefix import Limits
from proxy.gates.schema import SchemaBounds
from proxy.gates.tool_contract import Tool, compile_tool, read_choice, read_tools
from proxy.wire.reply import Reply, ToolCall
from proxy.wire.request import Request

NAME = call_verdicts.GATE
_TOOL_LISTS_KEPT = 32
_SCHEMAS_KEPT = 512
_MOST_WARNINGS = 5

ArgumentsRepair: TypeAlias = Literal[Repair.EMPTY_ARGUMENTS]
Coercion: TypeAlias = Literal[Repair.JSON_STRING, Repair.NUMBER_STRING]


class ToolCallsOptions(BaseModel):
    """Limits of each call's arguments: levels, UTF-8 bytes, digits of one number."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    repair: tuple[ArgumentsRepair, ...] = ()
    coerce: tuple[Coercion, ...] = ()
    history: Literal["warn", "reject"] = "warn"
    max_depth: Annotated[int, Field(ge=1, le=256)] = 64
    max_bytes: Annotated[int, Field(ge=1)] = 1_048_576
    max_integer_digits: Annotated[int, Field(ge=1, le=4300)] = 100


class ToolCallsGate(Gate, JudgesCalls):
    """Judges every choice against the tools that the request offers."""

    def __init__(self, options: ToolCallsOptions, bounds: SchemaBounds | None = None) -> None:
        limits = Limits(
            max_depth=options.max_depth,
            max_bytes=options.max_bytes,
            max_whitespace_run=options.max_bytes,
            max_integer_digits=options.max_integer_digits,
        )
        self._reader = ArgumentsReader(limits, frozenset((*options.repair, *options.coerce)))
        self._rejects_history = options.history == "reject"
        self._read_tools = lru_cache(maxsize=_TOOL_LISTS_KEPT)(read_tools)
        self._compile = lru_cache(maxsize=_SCHEMAS_KEPT)(
            partial(compile_tool, bounds=bounds or SchemaBounds())
        )

    @property
    @override
    def name(self) -> str:
        return NAME

    @override
    def applies(self, request: Request) -> bool:
        contract = self._contract(request)
        if contract is None:
            return False
        for tool in contract.tools.values():
            self._compile(tool)
        broken = broken_history(request.messages) if self._rejects_history else iter(())
        if (place := next(broken, None)) is not None:
            raise InvalidRequest(
                "The arguments of a call in the history are not JSON.", param=place
            )
        return True

    @override
    def judge(self, reply: Reply, request: Request) -> Verdict:
        contract = self._contract(request)
        if contract is None or reply.error is not None:
            return Verdict(NAME, Result.SKIP)
        if not reply.choices:
            reason = "The reply has no choices."
            return Verdict(NAME, Result.FAIL, Fault.MISSING_CALL, reason, "choices")
        verdicts = [
            judge_choice(choice, contract, was_cut=was_cut(choice, reply, request))
            for choice in reply.choices
        ]
        warnings = islice(broken_history(request.messages), _MOST_WARNINGS)
        told = tuple(f"{place} is not JSON" for place in warnings)
        verdict = sum_up(NAME, verdicts)
        return replace(verdict, warnings=told) if told else verdict

    @override
    def judge_call(self, call: ToolCall, request: Request) -> Verdict:
        """The token limit is not known of here: arguments that it cut are not JSON."""
        contract = self._contract(request)
        if contract is None:
            return Verdict(NAME, Result.SKIP)
        return judge_one(call, contract)

    @override
    def watch(self, request: Request) -> TextWatch | None:
        contract = self._contract(request)
        if contract is None:
            return None
        return CallWatch(
            contract.tools,
            may_be_bare=contract.may_be_bare,
            explain=lambda index: call_in_text(f"choices[{index}].message.content"),
        )

    def _contract(self, request: Request) -> Contract | None:
        tools: Mapping[str, Tool] = self._read_tools(request.tools)
        if not tools:
            return None
        choice = read_choice(request.tool_choice, tools)
        may_be_bare = not (request.response_format or request.structured_outputs)
        return Contract(tools, choice, self._compile, self._reader, may_be_bare)
