"""Keep-alives while a reply is held, leaving in every phase, and stopping."""

import asyncio
import json
from dataclasses import dataclass, field, replace

import pytest
from typing_extensions import override

from proxy.contract.exchange import Exchange
from proxy.contract.policy import Mode, Policy, StepKind
from proxy.errors import Fault, Interrupted, StreamBroken, TimedOut, UpstreamError
from proxy.telemetry.outcome import AttemptResult, Outcome, Unchecked
from proxy.upstream.lane import Call, UpstreamReply
from tests.fakes.job import ASKED, STREAMED, FakeClient, FakeClock, job_of, new_engine
from tests.fakes.lane import FakeLane, FakeReply, replying
from tests.fakes.policies import ATTEMPTS, STREAM, FakeGate, failed, policy, rule
from tests.fakes.upstream import Scripted, completion, stream

SILENT_SECONDS = 40.0
HELD = b": held\n\n"
GOOD = stream(["x"], usage=None)


class SlowLane(FakeLane):
    """Replies once the client has got two keep-alives."""

    client: FakeClient

    @override
    async def open(self, call: Call) -> UpstreamReply:
        async with asyncio.timeout(5):
            while self.client.pieces.count(HELD) < 2:  # noqa: ASYNC110 - a fake has no event
                await asyncio.sleep(0)
        return await super().open(call)


@dataclass
class SilentReply(FakeReply):
    """Falls silent after its pieces until somebody's patience is at its end."""

    clock: FakeClock = field(default_factory=FakeClock)

    @override
    async def chunk(self) -> bytes:
        if self.taken == len(self.pieces):
            self.clock.at += SILENT_SECONDS
            raise TimedOut("silent", code=Fault.UPSTREAM_IDLE)
        return await super().chunk()


@dataclass
class SilentLane(FakeLane):
    """Has the connection, and sends no head."""

    clock: FakeClock = field(default_factory=FakeClock)

    @override
    async def open(self, call: Call) -> UpstreamReply:
        self.clock.at += SILENT_SECONDS
        raise TimedOut("silent")


@pytest.mark.parametrize("policy_of_it", [None, policy(rule())], ids=["passed", "held"])
@pytest.mark.parametrize("pieces", [(), tuple(GOOD.pieces[:2])], ids=["at once", "in the middle"])
@pytest.mark.parametrize("is_stream", [True, False], ids=["stream", "body"])
async def test_silence_of_an_upstream_that_is_given_up_is_no_time_of_ours(
    policy_of_it: Policy | None, pieces: tuple[bytes, ...], is_stream: bool
) -> None:
    clock = FakeClock()
    kind = "text/event-stream" if is_stream else "application/json"
    reply = SilentReply(pieces, headers=(("content-type", kind),), is_stream=is_stream, clock=clock)
    exchange = Exchange(
        job_of(FakeLane([reply]), policy_of_it, STREAMED, clock=clock), FakeClient()
    )

    await exchange.run()

    record = exchange.record()
    assert record.outcome is Outcome.TIMED_OUT
    assert record.overhead_seconds == 0


@pytest.mark.parametrize("policy_of_it", [None, policy(rule())], ids=["passed", "held"])
async def test_upstream_that_sends_no_head_took_the_time(policy_of_it: Policy | None) -> None:
    clock = FakeClock()
    lane = SilentLane(clock=clock)
    exchange = Exchange(job_of(lane, policy_of_it, clock=clock), FakeClient())

    await exchange.run()

    assert exchange.record().overhead_seconds == 0


def _held(gate: FakeGate | None = None, after_seconds: float = 0.001) -> Policy:
    kept = replace(STREAM, keepalive_after_seconds=after_seconds, keepalive_every_seconds=0.001)
    made = policy(rule(gate or FakeGate(), (StepKind.REJECT,)))
    return replace(made, stream=kept, attempts=replace(ATTEMPTS, max_attempts=1))


async def _slow(answer: FakeReply | UpstreamError, made: Policy) -> tuple[FakeClient, Exchange]:
    client, lane = FakeClient(), SlowLane([answer])
    lane.client = client
    exchange = Exchange(job_of(lane, made, STREAMED), client)
    await exchange.run()
    return client, exchange


async def test_keepalives_commit_the_200_and_the_held_stream_follows() -> None:
    client, exchange = await _slow(replying(GOOD), _held())

    beginning, _, rest = client.body.rpartition(HELD)
    assert client.status == 200
    assert client.header("content-type") == "text/event-stream; charset=utf-8"
    assert beginning.replace(HELD, b"") == b""
    assert rest == b"".join(GOOD.pieces)
    assert exchange.record().outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("answer", "gate", "code"),
    [
        (replying(GOOD), FakeGate(verdict=failed()), "not_json"),
        (StreamBroken("cut"), FakeGate(), "stream_unfinished"),
        (replying(completion()), FakeGate(), "upstream_bad_reply"),
        (replying(Scripted((b'{"error":{"code":"mine"}}',), status=404)), FakeGate(), "mine"),
        (
            replying(Scripted((b"<html>no</html>",), status=404)),
            FakeGate(),
            "upstream_bad_reply",
        ),
        (replying(Scripted((b'{"detail":"no"}',), status=400)), FakeGate(), "upstream_bad_reply"),
    ],
    ids=["gate", "broken", "whole_reply", "refusal", "html", "no_error_object"],
)
async def test_failure_after_a_keepalive_is_an_error_event_and_no_done(
    answer: FakeReply | UpstreamError, gate: FakeGate, code: str
) -> None:
    client, exchange = await _slow(answer, _held(gate))

    last = client.body.rpartition(HELD)[2]
    assert client.ended
    assert last.startswith(b"data: ")
    assert json.loads(last[6:])["error"]["code"] == code
    assert b"[DONE]" not in client.body
    assert exchange.record().status == 200


async def test_keepalives_can_be_switched_off() -> None:
    client = FakeClient()

    await Exchange(
        job_of(FakeLane([replying(GOOD)]), _held(after_seconds=0), STREAMED), client
    ).run()

    assert client.body == b"".join(GOOD.pieces)
    assert client.header("x-sluicegate-outcome") == "passed"


async def test_client_that_waits_for_a_body_gets_no_keepalives() -> None:
    client = FakeClient()

    await Exchange(job_of(FakeLane([replying(completion())]), _held(), ASKED), client).run()

    assert client.body == completion().pieces[0]


@pytest.mark.parametrize("after_seconds", [0, 0.001, 60], ids=["off", "running", "waiting"])
@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("pieces", [(), tuple(GOOD.pieces[:2])], ids=["silent", "begun"])
async def test_leaving_closes_the_upstream_and_passes_the_sample_on(
    after_seconds: float, mode: Mode, pieces: tuple[bytes, ...]
) -> None:
    made = replace(_held(after_seconds=after_seconds), mode=mode)
    reply = FakeReply(pieces, is_stream=True, hangs=True)
    engine, told = new_engine()
    exchange = Exchange(job_of(FakeLane([reply]), made, STREAMED, engine=engine), FakeClient())
    task = asyncio.create_task(exchange.run())
    for _ in range(20):
        await asyncio.sleep(0)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    record = exchange.record()
    assert (reply.opened, reply.closed) == (1, 1)
    assert (record.outcome, record.status) == (Outcome.CLIENT_GONE, 499)
    assert record.attempts[0].result is AttemptResult.ABANDONED
    assert told.answers == []
    assert engine.dispatch().is_sample


@pytest.mark.parametrize("begun", [False, True], ids=["held", "running"])
async def test_stopping_tells_the_client_and_no_sdk_resends(begun: bool) -> None:
    reply = FakeReply(GOOD.pieces[:2], is_stream=True, hangs=True)
    client = FakeClient()
    exchange = Exchange(
        job_of(FakeLane([reply]), None if begun else _held(after_seconds=0), STREAMED), client
    )
    task = asyncio.create_task(exchange.run())
    for _ in range(20):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})

    await exchange.stop(Interrupted("stopped"))
    await exchange.stop(Interrupted("stopped"))

    assert b'"draining"' in client.body
    assert client.ended
    assert client.status == (200 if begun else 503)
    assert begun or client.header("x-should-retry") == "false"


async def test_parts_of_a_schema_that_went_unchecked_are_told() -> None:
    verdict = replace(FakeGate().verdict, unchecked=("pattern",))
    exchange = Exchange(
        job_of(FakeLane([replying(completion())]), _held(FakeGate(verdict=verdict))), FakeClient()
    )

    await exchange.run()

    assert exchange.record().unchecked == (Unchecked.PATTERN,)


async def test_record_of_an_exchange_that_never_ran_has_no_attempts() -> None:
    record = Exchange(job_of(FakeLane()), FakeClient()).record()

    assert record.attempts == ()
    assert record.outcome is Outcome.CLIENT_GONE
