"""The window way: events of a stream go out as soon as they are known to be good, in their order.

The role event, reasoning and the first characters of the text are withheld, so that a bad beginning
can still be answered by another attempt; each tool call waits until it is complete and judged; the
end waits for the verdict on the whole reply. What was sent can only be followed by an error.
"""

from dataclasses import dataclass
from typing import Final

from proxy.contract.attempt import Attempt
from proxy.contract.job import Client, Job
from proxy.contract.judging import Eye, may_not_show
from proxy.gates.base import Result
from proxy.wire.reply import Delta, ReplyBuilder, ToolCall

_NOTHING: Final = -1
# Replies of several choices are held.
_CHOICE: Final = 0


@dataclass(slots=True)
class Window:
    """What one client has got of a reply. `sent`: events of the present attempt that are out."""

    job: Job
    client: Client
    sent: int = 0
    first_sent: float | None = None
    last_sent: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether anything of the reply is out: then no other attempt can take its place."""
        return self.sent > 0

    async def release(self, attempt: Attempt, until: int) -> None:
        """Send the events before `until` that have not been sent."""
        if until <= self.sent:
            return
        pieces = [event.raw for event in attempt.events[self.sent : until]]
        if not self.client.started:
            await self.client.start(attempt.status, attempt.headers)
        self.sent = until
        asked = self.job.parts.clock.now()
        try:
            await self.client.send(b"".join(pieces))
        finally:
            now = self.job.parts.clock.now()
            attempt.waited += now - asked
        self.first_sent = now if self.first_sent is None else self.first_sent
        self.last_sent = now

    def sent_within(self, seconds: float) -> bool:
        """Whether something went out in the last seconds."""
        now = self.job.parts.clock.now()
        return self.last_sent is not None and now - self.last_sent < seconds


class WindowedAttempt:
    """Follows the events of one attempt and says how far they may go out."""

    def __init__(self, window: Window, attempt: Attempt, eyes: list[Eye]) -> None:
        self._window = window
        self._attempt = attempt
        self._eyes = eyes
        policy = window.job.policy
        self._holdback = policy.stream.window_holdback_characters if policy else 0
        self._holds_reasoning = policy is None or policy.stream.reasoning_hold
        self._characters = 0
        self._has_opened = False
        self._suspect_from = _NOTHING
        self._call_from: list[int] = []
        self._judged_calls = 0
        self._is_stuck = False
        self._end_from = _NOTHING

    def take(self, delta: Delta, calls: int) -> None:
        """Note the event that comes next in `attempt.events`; `calls`: tool calls begun so far."""
        position = len(self._attempt.events)
        while len(self._call_from) < calls:
            self._call_from.append(position)
        self._characters += sum(len(content) for _, content in delta.contents)
        if self._characters >= self._holdback and delta.contents:
            self._has_opened = True
        if delta.has_token and not delta.contents and not calls and not self._holds_reasoning:
            self._has_opened = True
        if not any(may_not_show(eye, _CHOICE) for eye in self._eyes):
            self._suspect_from = _NOTHING
        elif self._suspect_from == _NOTHING:
            self._suspect_from = position
        if delta.finished and self._end_from == _NOTHING:
            self._end_from = position

    async def advance(self, builder: ReplyBuilder) -> None:
        """Judge calls that are complete and send what may go.

        The last call is left to the verdict on the whole reply: only there is it known whether the
        token limit cut it. A call that fails, or must be repaired, is left to it as well.
        """
        complete = builder.count_calls(_CHOICE) - 1
        while not self._is_stuck and self._judged_calls < complete:
            call = builder.call_at(_CHOICE, self._judged_calls)
            self._is_stuck = not await self._is_sound(call)
            self._judged_calls += not self._is_stuck
        await self._window.release(self._attempt, self._limit())

    async def _is_sound(self, call: ToolCall) -> bool:
        job = self._window.job
        for rule in job.plan.enforced:
            verdict = await job.parts.judge.judge_call(rule, call, job.request)
            if verdict.result is not Result.PASS or verdict.repaired:
                return False
        return True

    def _limit(self) -> int:
        """How many events may be out."""
        if not self._has_opened:
            return 0
        limits = [self._suspect_from, self._end_from]
        if self._judged_calls < len(self._call_from):
            limits.append(self._call_from[self._judged_calls])
        known = [limit for limit in limits if limit != _NOTHING]
        return min(known, default=len(self._attempt.events))
