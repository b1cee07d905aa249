"""The surface without sockets: what becomes of a request whatever happens on its way."""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from typing_extensions import override

from proxy.contract.admission import Admission
from proxy.contract.job import Limits, Parts, Readiness
from proxy.contract.judging import Judge
from proxy.contract.policy import Policy
from proxy.contract.policy_set import PolicySet
from proxy.errors import NotReady, UpstreamError
from proxy.routes.asgi import Message
from proxy.routes.openai import Door, Gateway
from proxy.telemetry.outcome import Outcome
from proxy.telemetry.record import RequestRecord
from proxy.telemetry.recorder import Recorder
from proxy.upstream.lane import Call, UpstreamReply
from tests.fakes.job import FakeClock, new_engine
from tests.fakes.lane import FakeLane, FakeReply
from tests.fakes.policies import policy
from tests.fakes.readiness import FakeReadiness
from tests.fakes.upstream import chunk

BODY = b'{"model":"tiny","messages":[]}'
STREAM_BODY = b'{"model":"tiny","messages":[],"stream":true}'
BEGUN = FakeReply((chunk({"content": "a"}),), is_stream=True, hangs=True)


@dataclass
class Records:
    all: list[RequestRecord] = field(default_factory=list)

    def add(self, record: RequestRecord) -> None:
        self.all.append(record)


@dataclass
class BrokenReply(FakeReply):
    """Breaks by a fault of our own, after its pieces."""

    @override
    async def chunk(self) -> bytes:
        piece = await super().chunk()
        if not piece:
            raise RuntimeError("a fault of our own")
        return piece


class BrokenLane(FakeLane):
    @override
    async def open(self, call: Call) -> UpstreamReply:
        raise RuntimeError(call.body.decode())


class Surface:
    """A gateway, and one client that says its body and then waits or leaves."""

    def __init__(
        self,
        lane: FakeLane,
        *,
        policies: Sequence[Policy] = (),
        concurrent: int = 4,
        refuse_unjudged: bool = False,
        readiness: Readiness | None = None,
    ) -> None:
        self.records = Records()
        self.admission = Admission(concurrent, 4, 5)
        door = Door(
            policies=PolicySet(policies),
            admission=self.admission,
            open_admission=self.admission,
            keys=None,
            request_bytes=1 << 20,
            body_seconds=5,
            write_seconds=60,
            refuse_unjudged=refuse_unjudged,
        )
        clock = FakeClock()
        engine, limits = new_engine()[0], Limits(1 << 20, 1 << 20)
        parts = Parts(lane, engine, limits, clock, Judge(clock.now), readiness=readiness)
        self.recorder = Recorder((self.records,))
        self.gateway = Gateway(door, parts, self.recorder)
        self.sent: list[Message] = []
        self.leave = asyncio.Event()

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)

    @property
    def code(self) -> str:
        return str(json.loads(self.body)["error"]["code"])

    async def serve(
        self, body: bytes = BODY, path: str = "/v1/chat/completions", method: str = "POST"
    ) -> None:
        scope: dict[str, Any] = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [],
        }
        messages: list[Message] = [{"type": "http.request", "body": body}]

        async def receive() -> Message:
            if messages:
                return messages.pop()
            await self.leave.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            self.sent.append(message)

        await self.gateway(scope, receive, send)
        self.recorder.flush()

    async def serving(self, body: bytes = BODY) -> "asyncio.Task[None]":
        """A request that is on its way as far as it gets by itself."""
        task = asyncio.create_task(self.serve(body))
        for _ in range(20):
            await asyncio.sleep(0)
        return task

    def outcome(self) -> Outcome:
        (record,) = self.records.all
        assert self.gateway.in_flight == len(self.gateway.running) == 0
        assert self.admission._free == 4
        return record.outcome


async def test_fault_of_our_own_is_a_500_whose_log_quotes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    surface = Surface(BrokenLane())

    with caplog.at_level(logging.ERROR):
        await surface.serve()

    assert (surface.status, surface.code) == (500, "internal_error")
    assert (b"x-should-retry", b"false") in surface.sent[0]["headers"]
    assert surface.outcome() is Outcome.UPSTREAM_FAILED
    assert "RuntimeError" in caplog.text
    assert "tiny" not in caplog.text


async def test_fault_of_our_own_in_a_running_stream_is_its_last_event() -> None:
    broken = BrokenReply((chunk({"content": "a"}),), is_stream=True)
    surface = Surface(FakeLane([broken]))

    await surface.serve(STREAM_BODY)

    assert surface.status == 200
    assert b'"internal_error"' in surface.body
    assert surface.sent[-1]["more_body"] is False
    assert broken.closed == 1
    assert surface.outcome() is Outcome.UPSTREAM_FAILED


@pytest.mark.parametrize("body", [BODY, STREAM_BODY], ids=["silent", "streaming"])
async def test_client_that_leaves_is_recorded_once_and_the_upstream_closed(body: bytes) -> None:
    reply = FakeReply(BEGUN.pieces, is_stream=body is STREAM_BODY, hangs=True)
    surface = Surface(FakeLane([reply]))
    task = await surface.serving(body)

    surface.leave.set()
    await task

    assert (reply.opened, reply.closed) == (1, 1)
    assert surface.outcome() is Outcome.CLIENT_GONE


async def test_client_that_leaves_while_its_body_is_read_is_gone() -> None:
    surface = Surface(FakeLane())
    surface.leave.set()
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/chat/completions",
        "headers": [],
    }

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        surface.sent.append(message)

    await surface.gateway(scope, receive, send)
    surface.recorder.flush()

    assert surface.sent == []
    assert surface.outcome() is Outcome.CLIENT_GONE


@pytest.mark.parametrize(
    ("body", "status"), [(BODY, 503), (STREAM_BODY, 200)], ids=["silent", "streaming"]
)
async def test_stopped_exchange_ends_with_an_error(body: bytes, status: int) -> None:
    reply = FakeReply(BEGUN.pieces, is_stream=body is STREAM_BODY, hangs=True)
    surface = Surface(FakeLane([reply]))
    task = await surface.serving(body)

    surface.gateway.running.stop_all()
    await task

    assert surface.status == status
    assert b'"draining"' in surface.body
    assert reply.closed == 1
    assert surface.outcome() is Outcome.UPSTREAM_FAILED


@pytest.mark.parametrize("leaves", [True, False], ids=["leaves", "stopped"])
async def test_request_that_is_ended_in_the_queue_reaches_no_upstream(leaves: bool) -> None:
    lane = FakeLane()
    surface = Surface(lane, concurrent=0)
    task = await surface.serving()

    if leaves:
        surface.leave.set()
    else:
        surface.gateway.running.stop_all()
    await task

    assert lane.calls == []
    assert surface.admission.depth == 0
    assert [record.outcome for record in surface.records.all] == [
        Outcome.CLIENT_GONE if leaves else Outcome.REFUSED
    ]


async def test_draining_refuses_with_the_time_to_come_again() -> None:
    surface = Surface(FakeLane())
    surface.gateway.draining = True

    await surface.serve()

    assert (surface.status, surface.code) == (503, "draining")
    assert (b"retry-after", b"1") in surface.sent[0]["headers"]
    assert surface.outcome() is Outcome.REFUSED


async def test_cancellation_from_elsewhere_goes_on() -> None:
    surface = Surface(FakeLane([FakeReply(hangs=True)]))
    task = await surface.serving()

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(surface.gateway.running) == surface.gateway.in_flight == 0


async def test_request_without_a_policy_is_closed_where_the_settings_say_so() -> None:
    surface = Surface(FakeLane(), policies=[], refuse_unjudged=True)

    await surface.serve()

    assert (surface.status, surface.code) == (403, "no_policy")


async def test_error_of_the_upstream_is_the_reply() -> None:
    script: list[FakeReply | UpstreamError] = [UpstreamError("broken"), UpstreamError("broken")]
    surface = Surface(FakeLane(script), policies=[policy()])

    await surface.serve()

    assert surface.status == 502
    assert surface.outcome() is Outcome.UPSTREAM_FAILED


class _Closed(FakeReadiness):
    """Lets nobody go."""

    @override
    async def wait(self) -> None:
        self.waits += 1
        await asyncio.get_running_loop().create_future()


class _Refusing(FakeReadiness):
    @override
    async def wait(self) -> None:
        raise NotReady("The engine is loading.", code="engine_loading", retry_after_seconds=5)


async def test_request_waits_for_its_engine_before_it_is_admitted() -> None:
    readiness = FakeReadiness(is_open=False)
    surface = Surface(FakeLane([FakeReply((b"{}",))]), readiness=readiness)

    await surface.serve()

    assert readiness.waits == 1
    assert surface.outcome() is Outcome.PASSED


async def test_request_to_an_engine_that_is_ready_does_not_wait() -> None:
    readiness = FakeReadiness(is_open=True)
    surface = Surface(FakeLane([FakeReply((b"{}",))]), readiness=readiness)

    await surface.serve()

    assert readiness.waits == 0


async def test_look_up_does_not_wait() -> None:
    readiness = FakeReadiness(is_open=False)
    surface = Surface(FakeLane([FakeReply((b"{}",))]), readiness=readiness)

    await surface.serve(b"", "/v1/models", "GET")

    assert readiness.waits == 0
    assert surface.status == 200


async def test_engine_that_is_not_ready_in_time_is_a_503_and_nothing_was_sent() -> None:
    lane = FakeLane()
    surface = Surface(lane, readiness=_Refusing(is_open=False))

    await surface.serve()

    assert (surface.status, surface.code) == (503, "engine_loading")
    assert (b"retry-after", b"5") in surface.sent[0]["headers"]
    assert (b"x-should-retry", b"false") not in surface.sent[0]["headers"]
    assert lane.calls == []
    assert surface.outcome() is Outcome.REFUSED


@pytest.mark.parametrize("leaves", [True, False], ids=["leaves", "stopped"])
async def test_request_that_is_ended_while_it_waits_takes_no_room(leaves: bool) -> None:
    readiness = _Closed(is_open=False)
    surface = Surface(FakeLane(), readiness=readiness)
    task = await surface.serving()

    if leaves:
        surface.leave.set()
    else:
        surface.gateway.running.stop_all()
    await task

    assert readiness.waits == 1
    assert surface.outcome() is (Outcome.CLIENT_GONE if leaves else Outcome.REFUSED)
    if not leaves:
        assert (surface.status, surface.code) == (503, "draining")
