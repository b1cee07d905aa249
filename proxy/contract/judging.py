"""Puts one reply before the gates of a plan."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from proxy.contract.judge_process import JudgeFailed, JudgeProcess
from proxy.contract.plan import MOST_WATCHED_BYTES, Plan
from proxy.contract.policy import GateSpec, Rule
from proxy.errors import InvalidRequest, QueueFull, RequestError
from proxy.gates.base import JudgesCalls, Result, Verdict, Watch
from proxy.telemetry.record import VerdictRecord
from proxy.wire.reply import Choice, Reply, ToolCall, read_reply
from proxy.wire.request import Request

# A checked schema of 8 KiB compiles in about 2 ms; a faulty text of 8,000 characters of small JSON
# records is read in 0.5 ms and held against its schema in 4 ms, a valid one in 0.4 ms in all.
_PROMISE_BYTES: Final = 8192
_HISTORY_BYTES: Final = 262_144
_REPLY_CHARACTERS: Final = 8_000
# Long bodies of short replies are full of log probabilities: 25 KB of those are read in 1 ms.
_BODY_BYTES: Final = 65_536
_SOUND_KEPT: Final = 256

_Promise = tuple[GateSpec | bytes, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """One verdict with the rule it belongs to and the seconds that the gate took."""

    rule: Rule
    verdict: Verdict
    enforced: bool
    seconds: float = 0.0

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

    What a request promises is checked there when it is first seen, which is the costly part; short
    promises that were found sound are then held here. Long texts always go there, and a judgement
    that gives up here for want of steps is repeated there. Without a `process` all is judged here.
    """

    def __init__(self, now: Callable[[], float], process: JudgeProcess | None = None) -> None:
        self._now = now
        self._process = process
        self._sound: OrderedDict[_Promise, None] = OrderedDict()

    async def applies(self, rule: Rule, request: Request) -> bool:
        """Whether the gate guards this request. Raises `InvalidRequest` as the gate does.

        Raises `QueueFull` where too many wait to be checked. A gate that breaks here is asked to
        judge: its policy says what an error means.
        """
        try:
            if self._process is None or rule.spec is None or not _promises(request):
                return rule.gate.applies(request)
            return await self._checked(self._process, rule.spec, rule, request)
        except RequestError:
            raise
        except JudgeFailed as error:
            raise InvalidRequest(
                "What the request promises (its schemas or tools) takes too long to check.",
                code="promise_too_costly",
            ) from error
        except Exception:  # noqa: BLE001 - a gate may be anybody's
            return True

    async def _checked(
        self, process: JudgeProcess, spec: GateSpec, rule: Rule, request: Request
    ) -> bool:
        if _is_long(request):
            return await process.applies(spec, request)
        promise: _Promise = (spec, *_promises(request))
        if promise in self._sound:
            self._sound.move_to_end(promise)
            return rule.gate.applies(request)
        applies = await process.applies(spec, request)
        self._sound[promise] = None
        if len(self._sound) > _SOUND_KEPT:
            self._sound.popitem(last=False)
        return applies

    async def read(self, body: bytes) -> Reply:
        """The reply in a body. Raises `MalformedReply`."""
        if self._process is None or len(body) <= _BODY_BYTES:
            return read_reply(body)
        try:
            return await self._process.read(body)
        except (JudgeFailed, QueueFull):
            return read_reply(body)

    async def judge_all(self, plan: Plan, reply: Reply, request: Request) -> tuple[Judged, ...]:
        """Judge by every gate of the plan, enforced ones first."""
        judged = []
        for rule in plan.rules:
            began = self._now()
            verdict = await self._judge(rule, reply, request)
            judged.append(Judged(rule, verdict, rule in plan.enforced, self._now() - began))
        return tuple(judged)

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


def _failed_itself(rule: Rule, error: Exception) -> Verdict:
    return Verdict(
        gate=rule.gate.name,
        result=Result.ERROR,
        reason=f"The gate {rule.gate.name} failed itself ({type(error).__name__}).",
    )


def _reply_with(call: ToolCall) -> Reply:
    return Reply((Choice(0, None, tool_calls=(call,)),))


def _promises(request: Request) -> tuple[bytes, ...]:
    """The members that promise something about the reply; none for a plain chat."""
    members = request.response_format, request.structured_outputs, request.tools
    return (*members, request.tool_choice) if any(members) else ()


def _is_long(request: Request, reply: Reply | None = None) -> bool:
    """Whether reading these texts, or compiling their schemas, may take some milliseconds."""
    if sum(map(len, _promises(request))) > _PROMISE_BYTES:
        return True
    if request.tools and len(request.messages) > _HISTORY_BYTES:
        return True
    return reply is not None and sum(map(_characters, reply.choices)) > _REPLY_CHARACTERS


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
        if not rule.ladder[-1].kind.delivers_reply and (watch := _open(rule, request)) is not None
    ]


def _open(rule: Rule, request: Request) -> Watch | None:
    try:
        return rule.gate.watch(request)
    except Exception:  # noqa: BLE001 - a gate may be anybody's
        return None
