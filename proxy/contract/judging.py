"""Puts one reply before the gates of a plan."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from proxy.contract.asking import Asking, SoundPromises, promises_much
from proxy.contract.judge_process import JudgeFailed, JudgeProcess
from proxy.contract.plan import MOST_WATCHED_BYTES, Plan
from proxy.contract.policy import Rule
from proxy.contract.questions import Answers, NoAnswers
from proxy.contract.repaired import with_repairs
from proxy.errors import QueueFull
from proxy.gates.base import JudgesCalls, Result, Settles, Verdict, Watch
from proxy.gates.questions import Answer
from proxy.telemetry.record import VerdictRecord
from proxy.wire.reply import Choice, Reply, ToolCall, read_reply
from proxy.wire.request import Request

# A faulty text of 8,000 characters of small JSON records is read in 0.5 ms and held against its
# schema in 4 ms, a valid one in 0.4 ms in all.
_REPLY_CHARACTERS: Final = 8_000
# Long bodies of short replies are full of log probabilities: 25 KB of those are read in 1 ms.
_BODY_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Judged:
    """One verdict with the rule it belongs to and the seconds that the gate took.

    `waited`: seconds spent waiting for the answer to its question, not counted among the others.
    """

    rule: Rule
    verdict: Verdict
    enforced: bool
    seconds: float = 0.0
    waited: float = 0.0

    def record(self) -> VerdictRecord:
        verdict = self.verdict
        return VerdictRecord(
            gate=self.rule.gate.name,
            result=verdict.result,
            fault=verdict.fault,
            place=verdict.place,
            warnings=verdict.warnings,
            enforced=self.enforced,
            seconds=self.seconds,
        )


class Judge:
    """Puts requests and replies before gates: here where that is quick, else in another process.

    Long texts always go there, and a judgement that gives up here for want of steps is repeated
    there. Without a `process` all is judged here.
    What a gate asks beyond the reply, `answers` tells; `on_cleared` hears how many hints an answer
    has disproved.
    """

    def __init__(
        self,
        now: Callable[[], float],
        process: JudgeProcess | None = None,
        answers: Answers | None = None,
        on_cleared: Callable[[int], None] | None = None,
    ) -> None:
        self._now = now
        self._process = process
        self._answers = answers or NoAnswers()
        self._on_cleared = on_cleared
        self._promises = SoundPromises(process)

    def asking(self, request: Request) -> Asking:
        """Asks the gates of a policy whether they guard this request."""
        return self._promises.asking(request)

    async def read(self, body: bytes) -> Reply:
        """The reply in a body. Raises `MalformedReply`."""
        if self._process is None or len(body) <= _BODY_BYTES:
            return read_reply(body)
        try:
            return await self._process.read(body)
        except (JudgeFailed, QueueFull):
            return read_reply(body)

    async def judge_all(self, plan: Plan, reply: Reply, request: Request) -> tuple[Judged, ...]:
        """Judge by every gate of the plan, enforced ones first.

        Each sees what would be delivered: with the repairs of the gates before it.
        """
        judged = []
        for rule in plan.rules:
            one = await self._judged(rule, reply, request, enforced=rule in plan.enforced)
            judged.append(one)
            if one.enforced and one.verdict.repaired:
                reply = with_repairs(reply, one.verdict.repaired)
        return tuple(judged)

    async def _judged(
        self, rule: Rule, reply: Reply, request: Request, *, enforced: bool
    ) -> Judged:
        """One gate's verdict, with the answer to its question where it has one."""
        began = self._now()
        verdict = await self._judge(rule, reply, request)
        if verdict.question is None:
            return Judged(rule, verdict, enforced, self._now() - began)
        asked = self._now()
        answer = await self._answers.answer(verdict.question, request)
        waited = self._now() - asked
        verdict = await self._settled(rule, verdict, answer)
        if verdict.cleared and self._on_cleared is not None:
            self._on_cleared(verdict.cleared)
        seconds = self._now() - began - waited
        return Judged(rule, verdict, enforced, seconds, waited)

    async def judge_call(self, rule: Rule, call: ToolCall, request: Request) -> Verdict:
        """Judge one complete call while its reply goes on; gates that cannot have no objection."""
        gate = rule.gate
        if not isinstance(gate, JudgesCalls):
            return Verdict(gate.name, Result.PASS)
        try:
            if self._process and rule.spec and _is_long(request, _reply_with(call)):
                return await self._process.judge_call(rule.spec, call, request)
            verdict = gate.judge_call(call, request)
            if verdict.gave_up and self._process and rule.spec:
                return await self._process.judge_call(rule.spec, call, request)
        except Exception as error:  # noqa: BLE001 - a gate may be anybody's; its policy says what an error means
            return _failed_itself(rule, error)
        return verdict

    async def _judge(self, rule: Rule, reply: Reply, request: Request) -> Verdict:
        try:
            if self._process is None or rule.spec is None:
                return rule.gate.judge(reply, request)
            if not _is_long(request, reply):
                verdict = rule.gate.judge(reply, request)
                if not verdict.gave_up:
                    return verdict
            return await self._process.judge(rule.spec, reply, request)
        except Exception as error:  # noqa: BLE001 - a gate may be anybody's; its policy says what an error means
            return _failed_itself(rule, error)

    async def _settled(self, rule: Rule, verdict: Verdict, answer: Answer) -> Verdict:
        """Settled here where the gate here can, else where the question came from."""
        gate = rule.gate
        try:
            if isinstance(gate, Settles):
                return gate.settle(verdict, answer)
            if self._process is None or rule.spec is None:
                return replace(verdict, result=Result.ERROR, question=None)
            return await self._process.settle(rule.spec, verdict, answer)
        except Exception as error:  # noqa: BLE001 - a gate may be anybody's; its policy says what an error means
            return _failed_itself(rule, error)


def _failed_itself(rule: Rule, error: Exception) -> Verdict:
    return Verdict(
        gate=rule.gate.name,
        result=Result.ERROR,
        reason=f"The gate {rule.gate.name} failed itself ({type(error).__name__}).",
    )


def _reply_with(call: ToolCall) -> Reply:
    return Reply((Choice(0, None, tool_calls=(call,)),))


def _is_long(request: Request, reply: Reply) -> bool:
    """Whether reading these texts, or compiling their schemas, may take some milliseconds."""
    return promises_much(request) or sum(map(_characters, reply.choices)) > _REPLY_CHARACTERS


def _characters(choice: Choice) -> int:
    calls = sum(len(call.arguments) for call in choice.tool_calls)
    return len(choice.content or "") + len(choice.reasoning) + calls


@dataclass(slots=True)
class Eye:
    """One gate's watch on one stream. A watch that breaks is closed: the gate will judge."""

    rule: Rule
    watch: Watch | None

    def feed(self, choice: int, content: str) -> Verdict | None:
        if self.watch is None:
            return None
        try:
            return self.watch.feed(choice, content)
        except Exception:  # noqa: BLE001 - a gate may be anybody's
            self.watch = None
            return None


def may_not_show(eye: Eye, choice: int) -> bool:
    """Whether the text so far may end in the beginning of what must not be shown."""
    suspects = getattr(eye.watch, "suspects", None)
    return suspects is not None and bool(suspects(choice))


def open_eyes(plan: Plan, request: Request) -> list[Eye]:
    """The watches that may cut a stream: of enforced gates that would not deliver it after all.

    A list of tools that takes long to read is read by the judgement alone.
    """
    if len(request.tools) > MOST_WATCHED_BYTES:
        return []
    return [
        Eye(rule, watch)
        for rule in plan.enforced
        if rule.always_keeps_back and (watch := _open(rule, request)) is not None
    ]


def _open(rule: Rule, request: Request) -> Watch | None:
    try:
        return rule.gate.watch(request)
    except Exception:  # noqa: BLE001 - a gate may be anybody's
        return None
