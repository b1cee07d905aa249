"""What a gate is and what it answers. Knows nothing of HTTP, ladders or metrics."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol, Self, runtime_checkable

from proxy.errors import Fault
from proxy.gates.questions import Answer, Question
from proxy.wire.reply import Reply, ToolCall
from proxy.wire.request import Request


class Result(StrEnum):
    """A gate's answer on one reply."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    SKIP = "skip"
    ERROR = "error"


class Repair(StrEnum):
    """Repairs that a policy may allow; none of them but the last changes a value.

    `json_string` and `number_string` coerce: they take a value out of the string that spells
    exactly it. `trim_sentence` ends a text that is too long at the end of a sentence.
    """

    UNWRAP_FENCE = "unwrap_fence"
    DROP_THINK_TAG = "drop_think_tag"
    JSON_FROM_REASONING = "json_from_reasoning"
    EMPTY_ARGUMENTS = "empty_arguments"
    JSON_STRING = "json_string"
    NUMBER_STRING = "number_string"
    TRIM_SENTENCE = "trim_sentence"


@dataclass(frozen=True, slots=True)
class Repaired:
    """One choice after repair, and which repairs made it; a `content` of None stays as it was.

    `arguments`: new JSON texts by the position of a call among the choice's tool calls.
    """

    content: str | None
    repairs: tuple[Repair, ...]
    arguments: Mapping[int, str] = field(default_factory=dict)

    @property
    def clears_reasoning(self) -> bool:
        return Repair.JSON_FROM_REASONING in self.repairs

    def merged_with(self, other: Self) -> Self:
        """Both repairs of one choice, made by different gates; content of the other one wins."""
        return replace(
            self,
            content=self.content if other.content is None else other.content,
            repairs=self.repairs + other.repairs,
            arguments={**self.arguments, **other.arguments},
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one gate found in one reply.

    `place` says where (`choices[0].message.content`, then a JSON pointer) and becomes the error's
    `param`. `reason` is shown to the client, `feedback` to the model in a re-ask; neither quotes
    the reply at length. `repaired` maps choice index to what is new in it, on a pass only.
    `unchecked` names what could not be checked, e.g. a pattern outside RE2. `warnings` say what is
    wrong with the request and is no fault of the reply. `gave_up` marks an error for want of steps.
    `ladder` names the one that follows a fail, where the gate has several. With a `question` the
    verdict is not final: see `Settles`. `last_resort` is on a fail what `repaired` is on a pass:
    what might be delivered when no attempt is left. `cleared` counts hints that the answer to the
    question has disproved.
    """

    gate: str
    result: Result
    fault: Fault | None = None
    reason: str = ""
    place: str = ""
    feedback: str = ""
    repaired: Mapping[int, Repaired] = field(default_factory=dict)
    unchecked: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    gave_up: bool = False
    ladder: str = ""
    question: Question | None = None
    last_resort: Mapping[int, Repaired] = field(default_factory=dict)
    cleared: int = 0


class Left(Exception):
    """A light gate's word that it takes too long here to see whether it applies."""


class Watch(Protocol):
    """A gate's eye on one running stream; holds the state of that stream only."""

    def feed(self, choice: int, content: str) -> Verdict | None:
        """Take one piece of content; a `fail` verdict means that it can never become valid."""
        ...


class TextWatch(Watch, Protocol):
    """A watch that can say which text should not be released yet."""

    def suspects(self, choice: int) -> bool:
        """Whether the end of the content so far may be the beginning of what must not be shown."""
        ...


class Gate(Protocol):
    """One rule of a policy, with its options compiled. Keeps no state of a request."""

    @property
    def name(self) -> str: ...

    def applies(self, request: Request) -> bool:
        """Whether this request asks for what the gate guards.

        Raises `InvalidRequest` when the request's own contract cannot be used, such as a schema
        that is not one; so a client hears of it before the upstream is asked.
        """
        ...

    def judge(self, reply: Reply, request: Request) -> Verdict: ...

    def watch(self, request: Request) -> Watch | None:
        """An eye on a running stream, or None where a prefix cannot be judged."""
        ...


@runtime_checkable
class JudgesCalls(Protocol):
    """A gate that can judge one complete tool call while the reply goes on."""

    def judge_call(self, call: ToolCall, request: Request) -> Verdict:
        """The verdict on this call alone; `judge` has the last word on the whole reply.

        `place` and `repaired` take it for a call of the first choice, at the position `call.index`.
        """
        ...


@runtime_checkable
class Settles(Protocol):
    """A gate that may need to know what only a call of a server can tell.

    It puts a question into its verdict. The contract gets the answer and hands both back.
    """

    def settle(self, verdict: Verdict, answer: Answer) -> Verdict:
        """The final verdict, without a question.

        `Unanswered` makes an error of what was not decided yet; a fail that the answer might have
        cleared stands.
        """
        ...


def sum_up(gate: str, verdicts: Sequence[Verdict]) -> Verdict:
    """The first fail, else the first error; a pass carries the repairs of all choices."""
    if len(verdicts) == 1:
        return verdicts[0]
    for result in (Result.FAIL, Result.ERROR):
        for verdict in verdicts:
            if verdict.result is result:
                return verdict
    passed = [verdict for verdict in verdicts if verdict.result is Result.PASS]
    if not passed:
        return Verdict(gate, Result.SKIP)
    repaired = {index: each for verdict in passed for index, each in verdict.repaired.items()}
    unchecked = _each_once(name for verdict in passed for name in verdict.unchecked)
    return Verdict(gate, Result.PASS, repaired=repaired, unchecked=unchecked)


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
