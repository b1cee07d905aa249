"""One exchange without sockets: a job on a lane's script, and a client that writes down."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import override

from proxy.contract.clock import Clock
from proxy.contract.job import Arrival, Client, Job, Limits, Parts
from proxy.contract.judging import Judge
from proxy.contract.plan import Plan, make_plan
from proxy.contract.policy import Policy
from proxy.contract.usage import lacks_usage, with_usage
from proxy.telemetry.outcome import Endpoint
from proxy.upstream.engine import Engine
from proxy.upstream.lane import Headers
from proxy.wire.request import Request
from tests.fakes.engine import Told, seen_engine
from tests.fakes.lane import FakeLane

ASKED = Request(b'{"model":"tiny","messages":[]}', model="tiny", messages=b"[]")
STREAMED = Request(
    b'{"model":"tiny","stream":true,"messages":[]}', model="tiny", stream=True, messages=b"[]"
)


@dataclass
class FakeClock(Clock):
    """Stands still until a test moves it."""

    at: float = 100.0

    @override
    def now(self) -> float:
        return self.at

    @override
    def unix(self) -> float:
        return 1_770_000_000.0


@dataclass
class FakeClient(Client):
    """What a client got. Writing after the end fails, as the server's own would."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    pieces: list[bytes] = field(default_factory=list)
    started: bool = False
    ended: bool = False

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    @override
    async def start(self, status: int, headers: Headers) -> None:
        assert not self.started
        self.started = True
        self.status = status
        self.headers = list(headers)

    @override
    async def send(self, data: bytes) -> None:
        assert self.started
        assert not self.ended
        self.pieces.append(data)

    @override
    async def end(self, data: bytes = b"") -> None:
        await self.send(data)
        self.ended = True

    @override
    async def reply(self, status: int, headers: Headers, body: bytes) -> None:
        await self.start(status, headers)
        await self.end(body)


def new_engine() -> tuple[Engine, Told]:
    """An engine that answers, without counters."""
    return seen_engine(None)


def plan_of(
    request: Request, endpoint: Endpoint, policy: Policy | None, *, observe: bool = False
) -> Plan:
    """A plan, made without an event loop: gates that judge here are never waited for."""
    making = make_plan(
        request, endpoint, policy, Judge(lambda: 0.0).asking(request).applies, observe=observe
    )
    try:
        making.send(None)
    except StopIteration as made:
        plan: Plan = made.value
        return plan
    raise AssertionError("a plan waits for nothing here")


def job_of(
    lane: FakeLane,
    policy: Policy | None = None,
    request: Request = ASKED,
    *,
    engine: Engine | None = None,
    clock: Clock | None = None,
    endpoint: Endpoint = Endpoint.CHAT,
    limits: Limits | None = None,
    **parts: Any,
) -> Job:
    """A job as the surface would make it; usage is asked for unless `inject_usage` is false."""
    clock = clock or FakeClock()
    made = Parts(
        lane=lane,
        engine=engine or new_engine()[0],
        limits=limits or Limits(1 << 20, 1 << 20),
        clock=clock,
        judge=Judge(clock.now),
        **parts,
    )
    arrival = Arrival(
        id="r-1",
        endpoint=endpoint,
        method="POST",
        path="/v1/chat/completions",
        headers=[("x-request-id", "r-1")],
        request=request,
        received_at=clock.now(),
        received_unix=clock.unix(),
    )
    plan = plan_of(request, endpoint, policy, observe=made.observe)
    hides = made.inject_usage and lacks_usage(request, endpoint)
    body = with_usage(request) if hides else request.body
    return Job(made, arrival, policy, plan, body, hides)


def headers_named(headers: Sequence[tuple[str, str]], name: str) -> list[str]:
    return [value for key, value in headers if key == name]
