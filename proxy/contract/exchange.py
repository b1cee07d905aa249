"""One request from its plan to its record: the only place that knows all ways."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from proxy.contract.attempt import Attempt
from proxy.contract.attempts import AttemptLoop, Settled
from proxy.contract.best import end_of, with_best
from proxy.contract.delivery import (
    deliver,
    outcome_of,
    rejection,
    relay_error_reply,
    repairs_of,
    with_fitting_fallback,
    without_taking_back,
)
from proxy.contract.headers import NO_RETRY, gate_headers, overhead_seconds
from proxy.contract.job import Client, Job
from proxy.contract.last_resort import with_last_resort
from proxy.contract.plan import Way
from proxy.contract.policy import StepKind
from proxy.contract.relay import Relay
from proxy.contract.reviewing import park
from proxy.contract.window import Window
from proxy.errors import GateRejected, HeldForReview, ReplyableError, TimedOut
from proxy.gates.evidence.options import NAME as EVIDENCE
from proxy.telemetry.outcome import Outcome, Unchecked
from proxy.telemetry.record import RequestRecord
from proxy.telemetry.timing import StreamTimes, tokens_per_second
from proxy.wire.sse import comment, event

_EVENT_STREAM = (
    ("content-type", "text/event-stream; charset=utf-8"),
    ("cache-control", "no-cache"),
)


@dataclass(slots=True)
class Ending:
    """How an exchange came out, for its record. Instants are monotonic seconds.

    `end`: how a held reply was settled.
    """

    outcome: Outcome = Outcome.CLIENT_GONE
    status: int = 499
    error_code: str | None = None
    first_response: float | None = None
    first_token: float | None = None
    decided: Attempt | None = None
    end: StepKind = StepKind.DELIVER
    attempts: Sequence[Attempt] = field(default_factory=list)


class Exchange:
    """Runs one job for one client. `record` may be asked for at any time, even after a cancel."""

    def __init__(self, job: Job, client: Client) -> None:
        self._job = job
        self._client = client
        self._now = job.parts.clock.now
        self._ending = Ending()
        self._ended = 0.0

    async def run(self) -> None:
        """Serve the client; errors become its reply, or the last event of its stream."""
        try:
            if self._job.plan.way is Way.PASS:
                await self._pass()
            else:
                await self._hold()
        except ReplyableError as error:
            self._note_error(error)
            await self.send_error(error)
        finally:
            self._ended = self._now()

    async def stop(self, error: ReplyableError) -> None:
        """End a cancelled exchange: what the client has not got becomes an error."""
        self._note_error(error)
        await self.send_error(error)
        self._ended = self._now()

    async def send_error(self, error: ReplyableError) -> None:
        """Tell the client of an error: as a reply, or as an event after which no `[DONE]` comes."""
        if self._client.ended:
            return
        if self._client.started:
            await self._client.end(event(error.body()))
            return
        ending = self._ending
        headers = [
            ("content-type", "application/json"),
            *gate_headers(self._job, ending.outcome, ending.attempts, _decided(ending)),
        ]
        if error.after_dispatch or any(_may_have_generated(one) for one in ending.attempts):
            headers.append(NO_RETRY)
        if error.retry_after_seconds is not None:
            headers.append(("retry-after", str(error.retry_after_seconds)))
        await self._client.reply(error.status, headers, error.body())

    async def _pass(self) -> None:
        relay = Relay(self._job, self._client)
        ending = self._ending
        ending.attempts = relay.attempts
        try:
            attempt = await relay.run()
        finally:
            ending.first_response = relay.first_response
            ending.first_token = relay.first_token
        ending.decided = attempt
        ending.end = end_of(attempt) if attempt.failures else StepKind.DELIVER
        if not ending.end.delivers_reply:
            raise await self._kept_back(Settled(attempt, ending.end), relay.attempts)
        ending.outcome = outcome_of(attempt, ending.end)
        ending.status = attempt.status
        if attempt.is_error_reply:
            await relay_error_reply(self._job, self._client, relay.attempts, ending.outcome)
        elif not attempt.is_stream:
            own = gate_headers(self._job, ending.outcome, relay.attempts, attempt)
            await self._client.reply(attempt.status, [*attempt.headers, *own], attempt.body)
            ending.first_response = self._now()
            await relay.judge_observed(attempt)

    async def _hold(self) -> None:
        window = Window(self._job, self._client)
        windowed = self._job.plan.way is Way.WINDOW
        loop = AttemptLoop(self._job, window if windowed else None)
        ending = self._ending
        ending.attempts = loop.attempts
        try:
            settled = await self._kept_alive(loop, window)
        finally:
            ending.first_response = ending.first_token = window.first_sent
        if window.is_open:
            settled = without_taking_back(settled)
        elif self._job.attempts.deliver_best:
            settled = with_best(settled, loop.attempts)
        if not window.is_open:
            settled = await with_last_resort(self._job, settled)
            settled = with_fitting_fallback(self._job, settled)
        ending.decided, ending.end = settled.attempt, settled.end
        ending.outcome = outcome_of(settled.attempt, settled.end)
        ending.status = 200 if self._client.started else settled.attempt.status
        if settled.attempt.is_error_reply:
            await relay_error_reply(self._job, self._client, loop.attempts, ending.outcome)
            return
        if settled.end in (StepKind.REJECT, StepKind.PARK):
            raise await self._kept_back(settled, loop.attempts)
        await deliver(
            self._job, self._client, settled, loop.attempts, ending.outcome, sent=window.sent
        )
        if not window.is_open:
            ending.first_response = self._now()
        if settled.attempt.tap.first_token is not None:
            ending.first_token = ending.first_response

    async def _kept_back(self, settled: Settled, attempts: Sequence[Attempt]) -> ReplyableError:
        """The error for a reply that the client does not get."""
        if settled.end is StepKind.PARK:
            return await park(self._job, settled, attempts)
        return rejection(settled, attempts)

    async def _kept_alive(self, loop: AttemptLoop, window: Window) -> Settled:
        """Run the loop; a client that waits for a stream gets comments after a while.

        The first comment commits the 200, and some clients choke on comments: they start late, come
        only where nothing else was sent, and a policy may switch them off.
        """
        policy = self._job.policy
        if (
            policy is None
            or not self._job.request.stream
            or not policy.stream.keepalive_after_seconds
        ):
            return await loop.run()
        work = asyncio.create_task(loop.run())
        patience = policy.stream.keepalive_after_seconds
        try:
            while not (await asyncio.wait({work}, timeout=patience))[0]:
                if window.sent_within(patience):
                    continue
                if not self._client.started:
                    await self._client.start(200, _EVENT_STREAM)
                await self._client.send(comment("held"))
                patience = policy.stream.keepalive_every_seconds
            return work.result()
        finally:
            work.cancel()
            await asyncio.wait({work})

    def _note_error(self, error: ReplyableError) -> None:
        ending = self._ending
        ending.error_code = error.code
        ending.status = 200 if self._client.started else error.status
        if isinstance(error, GateRejected):
            ending.outcome = Outcome.REJECTED
        elif isinstance(error, HeldForReview):
            ending.outcome = Outcome.PARKED
        elif isinstance(error, TimedOut):
            ending.outcome = Outcome.TIMED_OUT
        else:
            ending.outcome = Outcome.UPSTREAM_FAILED

    def record(self) -> RequestRecord:
        """The record of an exchange that has ended; of a cancelled one it says `client_gone`."""
        job, ending, arrival, now = self._job, self._ending, self._job.arrival, self._ended
        decided = _decided(ending)
        delivered = ending.outcome in (Outcome.PASSED, Outcome.REPAIRED, Outcome.FLAGGED)
        replied = delivered and ending.end.delivers_reply  # not with a fallback's text
        tap = decided.tap if decided and delivered else None
        return RequestRecord(
            id=arrival.id,
            received_at=arrival.received_unix,
            endpoint=arrival.endpoint,
            outcome=ending.outcome,
            status=ending.status,
            stream=arrival.request.stream,
            policy=job.policy.label if job.policy else None,
            key=arrival.key,
            error_code=ending.error_code,
            attempts=tuple(attempt.record() for attempt in ending.attempts),
            verdicts=tuple(one.record() for one in decided.judged) if decided else (),
            repairs=_repair_names(decided) if decided and replied else (),
            unchecked=job.plan.unchecked + _unchecked_parts(decided),
            duration_seconds=now - arrival.received_at,
            queue_seconds=arrival.queue_seconds,
            overhead_seconds=overhead_seconds(job, ending.attempts, now),
            hold_seconds=self._held_seconds(decided),
            ttfr_seconds=_since(arrival.received_at, ending.first_response) if tap else None,
            ttft_seconds=_since(arrival.received_at, ending.first_token) if tap else None,
            tokens_per_second=_rate(decided) if tap else None,
            prompt_tokens=tap.prompt_tokens if tap else None,
            completion_tokens=tap.completion_tokens if tap else None,
            failed_attempt_tokens=sum(
                attempt.spent_tokens
                for attempt in ending.attempts
                if attempt is not decided or not delivered
            ),
        )

    def _held_seconds(self, decided: Attempt | None) -> float | None:
        if self._job.plan.way is Way.PASS or decided is None:
            return None
        if decided.first_response is None or self._ending.first_response is None:
            return None
        return max(0.0, self._ending.first_response - decided.first_response)


def _decided(ending: Ending) -> Attempt | None:
    return ending.decided or (ending.attempts[-1] if ending.attempts else None)


def _may_have_generated(attempt: Attempt) -> bool:
    return attempt.error is None or attempt.error.after_dispatch


def _since(start: float, instant: float | None) -> float | None:
    return None if instant is None else instant - start


def _rate(attempt: Attempt | None) -> float | None:
    if attempt is None or not attempt.is_stream:
        return None
    tap = attempt.tap
    times = StreamTimes(tap.first_response, tap.first_token, tap.last_token, tap.first_token_ids)
    return tokens_per_second(times, tap.completion_tokens)


def _repair_names(attempt: Attempt) -> tuple[str, ...]:
    return tuple(
        str(repair) for repaired in repairs_of(attempt).values() for repair in repaired.repairs
    )


def _unchecked_parts(attempt: Attempt | None) -> tuple[Unchecked, ...]:
    """Patterns of a schema that could not be held, and claims that were too many to compare."""
    judged = attempt.judged if attempt else ()
    gates = {one.rule.gate.name for one in judged if one.verdict.unchecked}
    claims = (Unchecked.CLAIMS,) if EVIDENCE in gates else ()
    return claims + ((Unchecked.PATTERN,) if gates - {EVIDENCE} else ())
