"""Asks the models of judge lanes about claims: one call each, bounded in time, counted apart."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from proxy.contract.claims_answer import Unreadable, read_judgements
from proxy.contract.claims_prompt import claims_request
from proxy.contract.served_model import ServedModel, ask_served_model
from proxy.errors import TimedOut, UpstreamError
from proxy.gates.questions import Answer, JudgeClaims, Unanswered
from proxy.telemetry.outcome import JudgeResult
from proxy.upstream.lane import Call, Lane
from proxy.wire.reply import MalformedReply, Reply, Usage, read_reply

_OK: Final = 200
_MOST_BYTES: Final = 1 << 20
_HEADERS: Final = (("content-type", "application/json"),)


@dataclass(frozen=True, slots=True)
class JudgeLane:
    """A lane that judges, and the model to name there; empty: the first one that it lists."""

    lane: Lane
    model: str = ""


@dataclass(frozen=True, slots=True)
class JudgeCall:
    """One call of a judge lane, for the metrics. Tokens as the lane states them."""

    result: JudgeResult
    seconds: float
    prompt_tokens: int = 0
    output_tokens: int = 0


CallObserver = Callable[[JudgeCall], None]


class ClaimJudges:
    """The judge lanes by name. No header of a client goes there, its key least of all."""

    def __init__(
        self, lanes: Mapping[str, JudgeLane], now: Callable[[], float], observer: CallObserver
    ) -> None:
        self._lanes = lanes
        self._now = now
        self._observer = observer
        self._served: dict[str, str] = {}

    async def answer(self, question: JudgeClaims) -> Answer:
        """The judgements, or `Unanswered`; raises nothing but a cancellation."""
        judge = self._lanes.get(question.lane)
        if judge is None:
            return Unanswered(f"There is no lane `{question.lane}`.")
        called = _Called()
        began = self._now()
        answer: Answer
        try:
            async with asyncio.timeout(question.time_limit_seconds):
                reply = await self._call(judge, question, called)
            answer = read_judgements(_text_of(reply), len(question.claims))
            result = JudgeResult.ANSWERED
        except (TimeoutError, TimedOut):
            result = JudgeResult.TIMED_OUT
            within = f"within {question.time_limit_seconds:g} s"
            answer = Unanswered(f"The lane `{question.lane}` did not answer {within}.")
        except (UpstreamError, _Refused) as error:
            result = JudgeResult.FAILED
            answer = Unanswered(f"The lane `{question.lane}` failed: {error}")
        except Unreadable as error:
            result = JudgeResult.UNREADABLE
            answer = Unanswered(f"The lane `{question.lane}` cannot be understood: {error}.")
        usage = called.usage
        self._observer(
            JudgeCall(result, self._now() - began, usage.prompt_tokens, usage.completion_tokens)
        )
        return answer

    async def _call(self, judge: JudgeLane, question: JudgeClaims, called: "_Called") -> Reply:
        """Raises `UpstreamError`, `_Refused` or `Unreadable`."""
        lane = judge.lane
        model = judge.model or await self._served_model(lane)
        body = claims_request(question, model, speaks_vllm=lane.speaks_vllm)
        with await lane.open(Call("POST", "/v1/chat/completions", _HEADERS, body)) as upstream:
            if upstream.status != _OK:
                self._served.pop(lane.name, None)
                raise _Refused(f"it answered {upstream.status}.")
            pieces = bytearray()
            while chunk := await upstream.chunk():
                pieces += chunk
                if len(pieces) > _MOST_BYTES:
                    raise _Refused("it answered with too much.")
        try:
            reply = read_reply(bytes(pieces))
        except MalformedReply as error:
            raise Unreadable("its reply is no chat completion") from error
        called.usage = reply.usage or called.usage
        return reply

    async def _served_model(self, lane: Lane) -> str:
        """Asked once; again after a refusal, which may come of another model being served now."""
        if lane.name not in self._served:
            self._served[lane.name] = (await ask_served_model(lane, ServedModel())).name
        return self._served[lane.name]


@dataclass(slots=True)
class _Called:
    """What a call has cost so far, even where its answer cannot be used."""

    usage: Usage = field(default_factory=lambda: Usage(0, 0))


class _Refused(Exception):
    """The lane answered, but with no completion."""


def _text_of(reply: Reply) -> str:
    """What the model says. Raises `Unreadable` where it says nothing."""
    content = reply.choices[0].content if reply.choices else None
    if reply.error is not None or not content:
        raise Unreadable("its answer is empty")
    return content
