"""The gate `strict_json`: an answer that was asked for as JSON is one strict document that fits."""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import override

from proxy.errors import Fault
from proxy.gates.base import Gate, Repair, Repaired, Result, Verdict, Watch, sum_up
from proxy.gates.json_prefix import Finding, Limits
from proxy.gates.json_promise import Format, JsonPromise, compile_promise, read_promise
from proxy.gates.repairs import openings, propose
from proxy.gates.schema import CompiledSchema, SchemaBounds, Undecided
from proxy.gates.schema_formats import TextFormat
from proxy.gates.strict_reading import read_answer, read_document
from proxy.gates.strict_watch import StrictWatch
from proxy.wire.reply import Choice, Reply
from proxy.wire.request import Request

NAME = "strict_json"
_PROMISES_KEPT = 64
_ANSWER_AGAIN = (
    "Answer again with only the JSON document: nothing before it, nothing after it, no Markdown."
)


ContentRepair: TypeAlias = Literal[
    Repair.UNWRAP_FENCE, Repair.DROP_THINK_TAG, Repair.JSON_FROM_REASONING
]


class StrictJsonOptions(BaseModel):
    """Limits count UTF-8 bytes, characters of one whitespace run, digits of one number."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    formats: tuple[Format, ...] = tuple(Format)
    max_depth: Annotated[int, Field(ge=1, le=256)] = 64
    max_bytes: Annotated[int, Field(ge=1)] = 1_048_576
    max_whitespace_run: Annotated[int, Field(ge=1)] = 64
    max_integer_digits: Annotated[int, Field(ge=1, le=4300)] = 100
    check_formats: tuple[TextFormat, ...] = ()
    repair: tuple[ContentRepair, ...] = ()


@dataclass(frozen=True, slots=True)
class _Contract:
    schema: CompiledSchema | None
    must_be_object: bool


class StrictJsonGate(Gate):
    """Judges the content of every choice against what the request asked for."""

    def __init__(self, options: StrictJsonOptions, bounds: SchemaBounds | None = None) -> None:
        self._formats = frozenset(options.formats)
        self._repairs = frozenset(options.repair)
        self._openings = openings(options.repair)
        self._limits = Limits(
            max_depth=options.max_depth,
            max_bytes=options.max_bytes,
            max_whitespace_run=options.max_whitespace_run,
            max_integer_digits=options.max_integer_digits,
        )
        self._read_promise = lru_cache(maxsize=_PROMISES_KEPT)(read_promise)
        self._compile = lru_cache(maxsize=_PROMISES_KEPT)(
            partial(
                compile_promise,
                bounds=bounds or SchemaBounds(),
                check_formats=options.check_formats,
            )
        )

    @property
    @override
    def name(self) -> str:
        return NAME

    @override
    def applies(self, request: Request) -> bool:
        promise = self._promise(request)
        if promise is None:
            return False
        self._compile(promise)
        return True

    @override
    def judge(self, reply: Reply, request: Request) -> Verdict:
        promise = self._promise(request)
        if promise is None or reply.error is not None:
            return Verdict(NAME, Result.SKIP)
        if not reply.choices:
            reason = "The reply has no choices."
            return Verdict(NAME, Result.FAIL, Fault.EMPTY_CONTENT, reason, "choices")
        contract = _Contract(self._compile(promise), promise.must_be_object)
        verdicts = [self._judge_choice(choice, contract) for choice in reply.choices]
        return sum_up(NAME, verdicts)

    @override
    def watch(self, request: Request) -> Watch | None:
        if self._promise(request) is None:
            return None
        return StrictWatch(
            self._limits, self._openings, spare_prose=bool(request.tools), explain=_explain
        )

    def _promise(self, request: Request) -> JsonPromise | None:
        return self._read_promise(
            request.response_format, request.structured_outputs, self._formats
        )

    def _judge_choice(self, choice: Choice, contract: _Contract) -> Verdict:
        if choice.refusal or choice.tool_calls or choice.finish_reason == "content_filter":
            return Verdict(NAME, Result.SKIP)
        reading = read_answer(choice, self._limits)
        verdict = (
            _explain(choice.index, reading)
            if isinstance(reading, Finding)
            else _fit(choice.index, reading.value, contract)
        )
        proposal = propose(choice, self._repairs) if isinstance(reading, Finding) else None
        if proposal is None:
            return verdict
        repaired = read_document(proposal.content or "", self._limits)
        if isinstance(repaired, Finding):
            return verdict
        fit = _fit(choice.index, repaired.value, contract, proposal)
        return fit if fit.result is Result.PASS else verdict


def _fit(
    index: int, document: object, contract: _Contract, repaired: Repaired | None = None
) -> Verdict:
    """The verdict on a document that was read, as it came or after a repair."""
    place = _place(index)
    if contract.must_be_object and not isinstance(document, dict):
        return _fail(Fault.SCHEMA_VIOLATION, place, "is not an object", "The document")
    unchecked = contract.schema.unchecked if contract.schema else ()
    if contract.schema is not None:
        try:
            violation = contract.schema.validate(document)
        except Undecided as undecided:
            reason = f"The schema cannot be applied to {place}: {undecided}."
            return Verdict(NAME, Result.ERROR, reason=reason, place=place, gave_up=True)
        if violation is not None:
            at = f"{place}#{violation.pointer}" if violation.pointer else place
            where = violation.pointer or "The document"
            return _fail(Fault.SCHEMA_VIOLATION, at, violation.message, where)
    changes = {index: repaired} if repaired else {}
    return Verdict(NAME, Result.PASS, repaired=changes, unchecked=unchecked)


def _explain(index: int, finding: Finding) -> Verdict:
    predicate = f"is not one strict JSON document: {finding.reason} (character {finding.at})"
    return _fail(finding.fault, _place(index), predicate, "Your answer")


def _fail(fault: Fault, place: str, predicate: str, subject: str) -> Verdict:
    """`place` is the client's name of what is wrong, `subject` the model's."""
    feedback = f"{subject} {predicate}. {_ANSWER_AGAIN}"
    return Verdict(NAME, Result.FAIL, fault, f"{place} {predicate}.", place, feedback)


def _place(index: int) -> str:
    return f"choices[{index}].message.content"
