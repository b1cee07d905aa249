"""The attempt loop of a held reply: call, judge, next step of the ladder, until it is settled."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from proxy.contract.attempt import Attempt
from proxy.contract.collect import collect
from proxy.contract.correction import draft_of
from proxy.contract.engine_answer import answer_of
from proxy.contract.job import Job
from proxy.contract.ladder import STRICT_JSON, Failure, Ladder
from proxy.contract.patience import patience_for
from proxy.contract.policy import StepKind
from proxy.contract.steps import Variation, body_for
from proxy.contract.upstream_faults import client_status, may_repeat
from proxy.contract.window import Window
from proxy.errors import TimedOut, Unreachable, UpstreamError
from proxy.telemetry.outcome import AttemptStep, Endpoint
from proxy.wire.tap import StreamTap

# What a load balancer or an engine that still loads answers.
_SAY_NOTHING: Final = frozenset({502, 503, 504})
_SERVER_ERROR: Final = 500


@dataclass(frozen=True, slots=True)
class Settled:
    """How the loop ended: which attempt decides, and by which end (`deliver` when all passed)."""

    attempt: Attempt
    end: StepKind


def begin_attempt(job: Job, earlier: Sequence[Attempt], step: AttemptStep) -> Attempt:
    """Note the engine's state at dispatch; a strict-JSON request may be its start's sample."""
    engine = job.parts.engine
    after = earlier[-1].dispatch if earlier else None
    strict = any(rule.gate.name == STRICT_JSON for rule in job.plan.rules)
    cause = _repeated(earlier) if step is AttemptStep.WAITED else step
    return Attempt(
        number=len(earlier) + 1,
        step=step,
        began=job.parts.clock.now(),
        cold=engine.is_cold,
        dispatch=engine.dispatch(step=cause, after=after) if strict else None,
        tap=StreamTap(max(1, job.request.n) if job.arrival.endpoint is Endpoint.CHAT else 1),
    )


def _repeated(earlier: Sequence[Attempt]) -> AttemptStep:
    """The step of the call that was not accepted: only that it came late is new."""
    return next(one.step for one in reversed(earlier) if one.step is not AttemptStep.WAITED)


def finish_attempt(job: Job, attempt: Attempt) -> None:
    """Tell the engine's state what the attempt has shown; called in every case.

    A reply that broke off may have begun long before the engine went away: it shows nothing.
    """
    attempt.ended = job.parts.clock.now()
    attempt.is_server_fault = client_status(attempt) >= _SERVER_ERROR
    engine = job.parts.engine
    broke_off = attempt.abandoned or attempt.error is not None
    if isinstance(attempt.error, Unreachable):
        engine.saw_unreachable()
    elif attempt.status and attempt.status not in _SAY_NOTHING and not broke_off:
        engine.saw_alive()
    settle_sample(job, attempt)


def settle_sample(job: Job, attempt: Attempt) -> None:
    """Tell how a strict-JSON answer was judged; once more where the verdict comes after all."""
    if attempt.dispatch is not None:
        answer = answer_of(job.request, attempt.judged)
        job.parts.engine.settle(attempt.dispatch, valid=answer.valid, fault=answer.fault)


class AttemptLoop:
    """Runs the attempts of one job. `attempts` lists them all, whatever happens."""

    def __init__(self, job: Job, window: Window | None = None) -> None:
        self._job = job
        self._window = window
        self._now = job.parts.clock.now
        self._deadline = self._now() + job.attempts.deadline_seconds
        self._ladder = Ladder(job.attempts, self._deadline)
        self._patience = patience_for(job, self._deadline)
        self.attempts: list[Attempt] = []

    async def run(self) -> Settled:
        """Run until settled. Raises `UpstreamError` when the last attempt got no reply."""
        deadline = asyncio.timeout(self._deadline - self._now())
        try:
            async with deadline:
                return await self._climb()
        except TimeoutError:
            if not deadline.expired():
                raise
            return self._at_deadline()

    async def _climb(self) -> Settled:
        body, step = self._job.body, AttemptStep.FIRST
        while True:
            attempt = await self._attempt(body, step)
            if await self._outlasts(attempt):
                step = AttemptStep.WAITED
                continue
            following = self._following(attempt)
            if isinstance(following, StepKind):
                return Settled(attempt, following)
            step = following
            if step not in (AttemptStep.UPSTREAM_FAULT, AttemptStep.COLD):
                body = self._next_body(step, attempt)

    async def _attempt(self, body: bytes, step: AttemptStep) -> Attempt:
        job = self._job
        attempt = begin_attempt(job, self.attempts, step)
        self.attempts.append(attempt)
        attempt.abandoned = True
        try:
            await collect(job, attempt, job.call(body, attempt.number, step), self._window)
            if attempt.reply is not None and not attempt.cut:
                judge = job.parts.judge
                attempt.judged = await judge.judge_all(job.plan, attempt.reply, job.request)
            attempt.abandoned = False
        except UpstreamError as error:
            attempt.error = error
            attempt.abandoned = False
        finally:
            finish_attempt(job, attempt)
        return attempt

    async def _outlasts(self, attempt: Attempt) -> bool:
        """Whether the call was not accepted, and may be made again without a step of the ladder."""
        if self._patience is None or self._is_open:
            return False
        return await self._patience.outlasts(attempt)

    def _following(self, attempt: Attempt) -> AttemptStep | StepKind:
        now = self._now()
        if attempt.error is not None or attempt.is_error_reply:
            repeats = may_repeat(attempt) and not self._is_open
            again = self._ladder.after_upstream_fault(now) if repeats else None
            if again is not None:
                return again
            if attempt.error is not None:
                raise attempt.error
            return StepKind.DELIVER
        failures = [Failure(judged.rule, judged.verdict) for judged in attempt.failures]
        if not failures:
            return StepKind.DELIVER
        return self._ladder.after_failures(
            failures,
            cold=attempt.cold,
            tokens=attempt.spent_tokens,
            now=now,
            may_retry=not self._is_open,
        )

    @property
    def _is_open(self) -> bool:
        """Whether the client has got some of the reply, so that it can only be ended."""
        return self._window is not None and self._window.is_open

    def _next_body(self, step: AttemptStep, attempt: Attempt) -> bytes:
        job = self._job
        variation = Variation(
            job.attempts.vary, job.parts.recipe_model, speaks_vllm=job.parts.lane.speaks_vllm
        )
        try:
            return body_for(step, job.body, job.request, variation, draft_of(attempt))
        except ValueError:  # the body cannot be changed, e.g. its messages are no list
            return job.body

    def _at_deadline(self) -> Settled:
        """The ladder's last step at once, on the last attempt that a gate has judged."""
        judged = [attempt for attempt in self.attempts if attempt.failures]
        if not judged:
            seconds = self._job.attempts.deadline_seconds
            raise TimedOut(f"No reply within the policy's deadline of {seconds:g} s.")
        last = judged[-1]
        failures = [Failure(one.rule, one.verdict) for one in last.failures]
        end = self._ladder.after_failures(
            failures, cold=False, tokens=0, now=max(self._now(), self._deadline)
        )
        return Settled(last, StepKind(end))
