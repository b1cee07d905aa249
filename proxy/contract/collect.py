"""Collects one whole reply of an upstream: a body, or a recorded stream under the gates' watch."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

from proxy.contract.attempt import Attempt
from proxy.contract.job import Job
from proxy.contract.judging import Judged, open_eyes
from proxy.contract.upstream_faults import refuse_unreadable, too_large
from proxy.contract.window import Window, WindowedAttempt
from proxy.errors import BadReply, Fault, StreamBroken, UpstreamError
from proxy.gates.base import Verdict
from proxy.upstream.lane import Call, UpstreamReply
from proxy.wire.reply import Delta, MalformedReply, Reply, ReplyBuilder
from proxy.wire.sse import Event, EventTooLarge, SseParser
from proxy.wire.tap import MalformedBodyReply, read_body_head

_OK = 200
_AFTER_DONE_SECONDS = 0.05
# What is read and watched of a stream in about a millisecond; then other streams get their turn.
_TURN_CHARACTERS = 8192


async def collect(job: Job, attempt: Attempt, call: Call, window: Window | None = None) -> None:
    """Fill the attempt; a watch may cut its stream. Raises `UpstreamError`.

    With a `window`, events are sent as soon as they are known to be good.
    """
    with await opened(job, attempt, call) as upstream:
        see_head(job, attempt, upstream)
        if attempt.is_stream:
            await _StreamCollector(job, attempt, window).run(upstream)
        else:
            await read_body(job, attempt, upstream)
            if attempt.status == _OK:
                attempt.reply = await reply_of(job, attempt)


async def opened(job: Job, attempt: Attempt, call: Call) -> UpstreamReply:
    """The upstream's reply, once its head is there. Raises `UpstreamError`.

    A wait counts however it ends: what an upstream kept to itself is no time of ours.
    """
    now = job.parts.clock.now
    asked = now()
    try:
        return await job.parts.lane.open(call)
    finally:
        attempt.waited += now() - asked


def see_head(job: Job, attempt: Attempt, upstream: UpstreamReply) -> None:
    """Note status and headers. Raises `BadReply` for a reply that must not be handed on."""
    attempt.status = upstream.status
    refuse_unreadable(upstream, judged=job.reads_events)
    attempt.headers = upstream.headers
    attempt.is_stream = upstream.is_stream and upstream.status == _OK


async def read_body(job: Job, attempt: Attempt, upstream: UpstreamReply) -> None:
    """Read a body within `reply_bytes`, and its usage where it is a JSON object.

    Raises `BadReply` for a 200 on a judged surface that is not a JSON object.
    """
    now = job.parts.clock.now
    pieces: list[bytes] = []
    size = 0
    while True:
        asked = now()
        try:
            chunk = await upstream.chunk()
        finally:
            arrived = now()
            attempt.waited += arrived - asked
        if not chunk:
            break
        if attempt.first_byte is None:
            attempt.first_byte = arrived
        pieces.append(chunk)
        size += len(chunk)
        if size > job.parts.limits.reply_bytes:
            raise too_large(job.parts.limits.reply_bytes, "reply")
        if upstream.is_over:
            break
    attempt.body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    if attempt.status != _OK or not job.reads_events:
        return
    try:
        prompt, completion, attempt.tap.error = read_body_head(attempt.body)
    except MalformedBodyReply as error:
        raise BadReply("The upstream's reply is not a JSON object.") from error
    attempt.tap.prompt_tokens, attempt.tap.completion_tokens = prompt, completion
    if attempt.tap.error:
        raise StreamBroken(
            "The upstream sent an error object under status 200.", code=Fault.ERROR_IN_STREAM
        )


async def reply_of(job: Job, attempt: Attempt) -> Reply:
    """The reply of a body. Raises `BadReply` when it is no chat completion."""
    try:
        return await job.parts.judge.read(attempt.body)
    except MalformedReply as error:
        raise BadReply("The upstream's reply is not a chat completion.") from error


async def after_done(upstream: UpstreamReply) -> bytes:
    """What follows `[DONE]`: the end of the body, soon. An upstream that leaves it open is left.

    A connection that was read to its end can be used again; one that breaks here has ended too.
    """
    try:
        async with asyncio.timeout(_AFTER_DONE_SECONDS):
            return await upstream.chunk()
    except (UpstreamError, TimeoutError):
        return b""


class _StreamCollector:
    """Records the events of one stream and lets the gates watch its content."""

    def __init__(self, job: Job, attempt: Attempt, window: Window | None) -> None:
        self._job = job
        self._attempt = attempt
        self._now = job.parts.clock.now
        self._parser = SseParser(job.parts.limits.event_bytes)
        self._builder = ReplyBuilder()
        self._eyes = open_eyes(job.plan, job.request)
        self._windowed = WindowedAttempt(window, attempt, self._eyes) if window else None
        self._since_turn = 0

    async def run(self, upstream: UpstreamReply) -> None:
        attempt, limit = self._attempt, self._job.parts.limits.reply_bytes
        size = 0
        while not attempt.cut:
            asked = self._now()
            try:
                chunk = await (after_done(upstream) if attempt.tap.done else upstream.chunk())
            finally:
                arrived = self._now()
                attempt.waited += arrived - asked
            size += len(chunk)
            if size > limit:
                raise too_large(limit, "stream")
            await self._take(self._events(chunk), arrived)
            if self._windowed is not None and not attempt.cut:
                await self._windowed.advance(self._builder)
            if not chunk:
                break
        attempt.reply = self._builder.reply()
        choices = attempt.reply.choices
        if not attempt.cut and not (choices and all(choice.finish_reason for choice in choices)):
            raise StreamBroken("The upstream's stream ended without a finish_reason.")

    def _events(self, chunk: bytes) -> Sequence[Event]:
        try:
            return self._parser.feed(chunk) if chunk else self._parser.finish()
        except EventTooLarge as error:
            raise too_large(self._job.parts.limits.event_bytes, "event") from error

    async def _take(self, events: Sequence[Event], arrived: float) -> None:
        tap = self._attempt.tap
        for event in events:
            if event.data is not None:
                tap.take(event.data, arrived)
                if tap.error:
                    raise StreamBroken(
                        "The upstream sent an error object in its stream.",
                        code=Fault.ERROR_IN_STREAM,
                    )
                if not tap.done:
                    await self._look(self._delta(event.data))
                if self._attempt.cut:
                    return
            if not (tap.usage_only and self._job.hides_usage):
                self._attempt.events.append(event)
            tap.usage_only = False
            await self._give_turn(len(event.raw))

    async def _give_turn(self, characters: int) -> None:
        """Let other streams go on after a while: an upstream may send faster than we read."""
        self._since_turn += characters
        if self._since_turn >= _TURN_CHARACTERS:
            self._since_turn = 0
            await asyncio.sleep(0)

    def _delta(self, data: bytes) -> Delta:
        try:
            return self._builder.add(data)
        except MalformedReply as error:
            raise not_json() from error

    async def _look(self, delta: Delta) -> None:
        for index, piece in _pieces(delta):
            if self._eyes and not self._attempt.cut:
                self._watch(index, piece)
                await self._give_turn(len(piece))
        if self._windowed is not None:
            self._windowed.take(delta, self._builder.count_calls(0))

    def _watch(self, choice: int, content: str) -> None:
        for eye in self._eyes:
            verdict = eye.feed(choice, content)
            if verdict is not None:
                self._attempt.judged = (Judged(eye.rule, _early(verdict), enforced=True),)
                self._attempt.cut = True
                return


def _pieces(delta: Delta) -> Iterator[tuple[int, str]]:
    for index, content in delta.contents:
        for begin in range(0, len(content), _TURN_CHARACTERS):
            yield index, content[begin : begin + _TURN_CHARACTERS]


def not_json() -> BadReply:
    return BadReply("The upstream's stream carries an event that is not JSON.")


def _early(verdict: Verdict) -> Verdict:
    return replace(verdict, reason=f"{verdict.reason} (the stream was cut there)")
