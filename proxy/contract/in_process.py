"""A policy put before a lane in this process: what a proxy would do, without one.

For fixtures and measurements. The gates are the full ones, since no stream waits for them, and
nothing is written anywhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from typing_extensions import override

from proxy.contract.clock import Clock, SystemClock
from proxy.contract.exchange import Exchange
from proxy.contract.job import Arrival, Client, Job, Limits, Parts
from proxy.contract.judging import Judge
from proxy.contract.plan import make_plan
from proxy.contract.policy import Policy
from proxy.contract.questions import UpstreamAnswers
from proxy.errors import InvalidRequest, ReplyableError
from proxy.gates.registry import GateKind
from proxy.telemetry.outcome import Endpoint, Outcome
from proxy.telemetry.record import AttemptRecord
from proxy.telemetry.start_sinks import StartSinks
from proxy.upstream.engine import Engine
from proxy.upstream.lane import Headers, Lane
from proxy.wire.request import MalformedBody, Request, read_request

PATH: Final = "/v1/chat/completions"
_LIMITS: Final = Limits(event_bytes=8 << 20, reply_bytes=16 << 20)
_JSON: Final = [("content-type", "application/json")]


def full_kinds(kinds: Mapping[str, GateKind]) -> dict[str, GateKind]:
    """The same gates without those that give up early: no other process judges in their stead."""
    return {name: replace(kind, build_light=None) for name, kind in kinds.items()}


@dataclass(frozen=True, slots=True)
class Served:
    """What a client would have got, and how it came about."""

    outcome: Outcome
    status: int
    body: bytes
    attempts: tuple[AttemptRecord, ...] = ()


class InProcessGate:
    """Serves chat requests by one policy. It must have been loaded with `full_kinds`.

    Strict JSON of a cold engine is tried once more by other rules than that of a warm one; unless
    `cold`, the engine counts as warm.
    """

    def __init__(self, policy: Policy, *, cold: bool = False, clock: Clock | None = None) -> None:
        attempts = policy.attempts if cold else replace(policy.attempts, cold=False)
        self._policy = replace(policy, attempts=attempts)
        self._clock = clock or SystemClock()

    async def serve(self, body: bytes, lane: Lane) -> Served:
        """Serve one request that asks for no stream, whatever its upstream does."""
        parts = self._parts(lane)
        try:
            request = _read(body)
            plan = await make_plan(
                request,
                Endpoint.CHAT,
                self._policy,
                parts.judge.asking(request).applies,
                observe=False,
            )
        except ReplyableError as error:
            return Served(Outcome.REFUSED, error.status, error.body())
        client = _Notes()
        job = Job(parts, self._arrival(request), self._policy, plan, body, hides_usage=False)
        exchange = Exchange(job, client)
        await exchange.run()
        record = exchange.record()
        return Served(record.outcome, client.status, client.body, record.attempts)

    def _parts(self, lane: Lane) -> Parts:
        now: Callable[[], float] = self._clock.now
        return Parts(
            lane=lane,
            engine=Engine(lane.name, StartSinks(()), self._clock.unix),
            limits=_LIMITS,
            clock=self._clock,
            judge=Judge(now, answers=UpstreamAnswers(lane)),
            inject_usage=False,
        )

    def _arrival(self, request: Request) -> Arrival:
        return Arrival(
            id="in-process",
            endpoint=Endpoint.CHAT,
            method="POST",
            path=PATH,
            headers=_JSON,
            request=request,
            received_at=self._clock.now(),
            received_unix=self._clock.unix(),
        )


def _read(body: bytes) -> Request:
    try:
        return read_request(body)
    except MalformedBody as error:
        raise InvalidRequest(str(error), param=error.param or None) from error


class _Notes(Client):
    """A client that keeps what it is sent."""

    def __init__(self) -> None:
        self.status = 0
        self._pieces: list[bytes] = []
        self._ended = False

    @property
    @override
    def started(self) -> bool:
        return self.status > 0

    @property
    @override
    def ended(self) -> bool:
        return self._ended

    @property
    def body(self) -> bytes:
        return b"".join(self._pieces)

    @override
    async def start(self, status: int, headers: Headers) -> None:
        self.status = status

    @override
    async def send(self, data: bytes) -> None:
        self._pieces.append(data)

    @override
    async def end(self, data: bytes = b"") -> None:
        self._pieces.append(data)
        self._ended = True

    @override
    async def reply(self, status: int, headers: Headers, body: bytes) -> None:
        await self.start(status, headers)
        await self.end(body)
