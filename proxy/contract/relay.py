"""The pass way: upstream's bytes go to the client event by event. The hot path.

A tap reads what the metrics need. Gates that only observe, or that a policy lets judge a passing
stream, see the assembled reply at the end; then only the end itself can still be withheld.
"""

import math
from collections.abc import Sequence

from proxy.contract.attempt import Attempt
from proxy.contract.attempts import begin_attempt, finish_attempt, settle_sample
from proxy.contract.best import end_of
from proxy.contract.collect import (
    after_done,
    not_json,
    opened,
    read_body,
    reply_of,
    see_head,
)
from proxy.contract.job import Client, Job
from proxy.contract.ladder import Ladder
from proxy.contract.patience import patience_for
from proxy.contract.upstream_faults import may_repeat, too_large
from proxy.errors import BadReply, Fault, StreamBroken, UpstreamError
from proxy.telemetry.outcome import AttemptStep
from proxy.upstream.lane import UpstreamReply
from proxy.wire.reply import MalformedReply, Reply, ReplyBuilder
from proxy.wire.sse import Event, EventTooLarge, SseParser

_OK = 200


class Relay:
    """Relays one reply. `first_response` and `first_token` are instants at which ours went out."""

    def __init__(self, job: Job, client: Client) -> None:
        self._job = job
        self._client = client
        self._now = job.parts.clock.now
        deadline = self._now() + job.attempts.deadline_seconds
        self._ladder = Ladder(job.attempts, deadline)
        self._patience = patience_for(job, deadline if job.policy else math.inf)
        self.attempts: list[Attempt] = []
        self.first_response: float | None = None
        self.first_token: float | None = None

    async def run(self) -> Attempt:
        """Relay until the end; the last attempt. A body or an error status is not sent yet.

        Raises `UpstreamError`, perhaps after the client's reply has begun.
        """
        step: AttemptStep | None = AttemptStep.FIRST
        while step is not None:
            attempt = await self._attempt(step)
            failed = attempt.error is not None or attempt.is_error_reply
            step = await self._again(attempt) if failed and not self._client.started else None
        if attempt.error is not None:
            raise attempt.error
        return attempt

    async def _attempt(self, step: AttemptStep) -> Attempt:
        job = self._job
        attempt = begin_attempt(job, self.attempts, step)
        attempt.abandoned = True
        self.attempts.append(attempt)
        try:
            with await opened(job, attempt, job.call(job.body, attempt.number, step)) as upstream:
                see_head(job, attempt, upstream)
                if not attempt.is_stream:
                    await read_body(job, attempt, upstream)
                    await self._judge_enforced(attempt)
                elif job.reads_events:
                    await _EventRelay(self, job, attempt, self._client).run(upstream)
                else:
                    await self._copy(upstream, attempt)
            attempt.abandoned = False
        except UpstreamError as error:
            attempt.error = error
            attempt.abandoned = False
        finally:
            finish_attempt(job, attempt)
        return attempt

    async def _again(self, attempt: Attempt) -> AttemptStep | None:
        """What follows an attempt that failed before anything was sent."""
        if self._patience is not None and await self._patience.outlasts(attempt):
            return AttemptStep.WAITED
        return self._ladder.after_upstream_fault(self._now()) if may_repeat(attempt) else None

    def may_repeat_error_event(self) -> bool:
        """Whether an error event may still be answered by one more attempt."""
        return not self._client.started and self._ladder.has_fault_attempt(self._now())

    async def _copy(self, upstream: UpstreamReply, attempt: Attempt) -> None:
        """A stream of a surface whose events we do not read."""
        await self._client.start(attempt.status, attempt.headers)
        size, limit = 0, self._job.parts.limits.reply_bytes
        while True:
            asked = self._now()
            try:
                chunk = await upstream.chunk()
            finally:
                attempt.waited += self._now() - asked
            if not chunk:
                break
            size += len(chunk)
            if size > limit:
                raise too_large(limit, "stream")
            await self._given(attempt, chunk)
        await self._client.end()

    async def _given(self, attempt: Attempt, chunk: bytes) -> None:
        """Waiting for a client to take what came is no time of ours either."""
        asked = self._now()
        try:
            await self._client.send(chunk)
        finally:
            attempt.waited += self._now() - asked

    async def _judge_enforced(self, attempt: Attempt) -> None:
        """A body in place of a stream is not sent before its verdict."""
        if self._job.plan.enforced and attempt.status == _OK:
            await self._judge(attempt, await reply_of(self._job, attempt))

    async def judge_observed(self, attempt: Attempt) -> None:
        """Judge a body that was sent, by gates that only observe."""
        if self._job.plan.enforced or not self._job.plan.rules or attempt.status != _OK:
            return
        try:
            await self._judge(attempt, await reply_of(self._job, attempt))
        except BadReply:
            return
        settle_sample(self._job, attempt)

    async def _judge(self, attempt: Attempt, reply: Reply) -> None:
        attempt.reply = reply
        judge = self._job.parts.judge
        attempt.judged = await judge.judge_all(self._job.plan, reply, self._job.request)


class _EventRelay:
    """One stream of chat or completion chunks on its way to the client."""

    def __init__(self, relay: Relay, job: Job, attempt: Attempt, client: Client) -> None:
        self._relay = relay
        self._job = job
        self._attempt = attempt
        self._client = client
        self._now = job.parts.clock.now
        self._parser = SseParser(job.parts.limits.event_bytes)
        self._builder = ReplyBuilder() if job.plan.rules else None
        self._end = b""

    async def run(self, upstream: UpstreamReply) -> None:
        attempt, tap, now = self._attempt, self._attempt.tap, self._now
        limit, size = self._job.parts.limits.reply_bytes, 0
        asked = now()
        while True:
            try:
                chunk = await upstream.chunk()
            finally:
                arrived = now()
                attempt.waited += arrived - asked
            size += len(chunk)
            if size > limit:
                raise too_large(limit, "stream")
            out = self._take(self._events(chunk), arrived)
            if tap.error and self._relay.may_repeat_error_event():
                raise StreamBroken(
                    "The upstream sent an error object in its stream.", code=Fault.ERROR_IN_STREAM
                )
            asked = await self._send(out) if out else now()
            if tap.done or not chunk:
                break
        await self._finish()
        if tap.done:
            await after_done(upstream)

    def _events(self, chunk: bytes) -> Sequence[Event]:
        try:
            return self._parser.feed(chunk) if chunk else self._parser.finish()
        except EventTooLarge as error:
            raise too_large(self._job.parts.limits.event_bytes, "event") from error

    def _take(self, events: Sequence[Event], arrived: float) -> bytes:
        """Look at events; the bytes to hand on now."""
        tap = self._attempt.tap
        out: list[bytes] = []
        for event in events:
            data = event.data
            if data is not None:
                is_plain = tap.take(data, arrived)
                if self._builder is not None and not tap.done:
                    self._build(self._builder, data)
                if (not is_plain or self._end) and self._is_kept_back(event):
                    continue
            out.append(event.raw)
        return out[0] if len(out) == 1 else b"".join(out)

    def _is_kept_back(self, event: Event) -> bool:
        """Whether an event is not for the client, or not yet: an end waits for the verdict."""
        tap, job = self._attempt.tap, self._job
        if tap.usage_only and job.hides_usage and not tap.error:
            return True
        if not job.plan.enforced or not (tap.done or (tap.finished and not tap.error)):
            return False
        self._end += event.raw
        return True

    def _build(self, builder: ReplyBuilder, data: bytes) -> None:
        try:
            builder.add(data)
        except MalformedReply as error:
            if self._job.plan.enforced:
                raise not_json() from error
            self._builder = None

    async def _send(self, out: bytes) -> float:
        """Hand bytes on; the instant at which the client has taken them."""
        relay = self._relay
        if not self._client.started:
            await self._client.start(self._attempt.status, self._attempt.headers)
        asked = self._now()
        try:
            await self._client.send(out)
        finally:
            sent = self._now()
            self._attempt.waited += sent - asked
        if relay.first_token is None:
            tap = self._attempt.tap
            if relay.first_response is None and tap.first_response is not None:
                relay.first_response = sent
            if tap.first_token is not None:
                relay.first_token = sent
        return sent

    async def _finish(self) -> None:
        """End the client's stream: before gates that observe, after those that decide."""
        attempt, tap = self._attempt, self._attempt.tap
        if tap.error:
            attempt.error = StreamBroken(
                "The upstream sent an error object in its stream.", code=Fault.ERROR_IN_STREAM
            )
        elif not tap.finished:
            raise StreamBroken("The upstream's stream ended without a finish_reason.")
        if not self._job.plan.enforced:
            await self._client.end()
        if self._builder is not None and attempt.error is None:
            attempt.reply = self._builder.reply()
            judge = self._job.parts.judge
            attempt.judged = await judge.judge_all(self._job.plan, attempt.reply, self._job.request)
        if self._client.ended:
            return
        if not attempt.failures or end_of(attempt).delivers_reply:
            await self._client.end(self._end)
