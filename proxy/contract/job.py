"""What one exchange works with: the request that arrived and the parts of the proxy it uses."""

from dataclasses import dataclass, field
from typing import Final, Protocol

from proxy.contract.clock import Clock
from proxy.contract.judging import Judge
from proxy.contract.plan import Plan
from proxy.contract.policy import Attempts, Policy, Vary
from proxy.contract.reviews import Reviews
from proxy.contract.served_model import ServedModel
from proxy.telemetry.outcome import AttemptStep, Endpoint
from proxy.upstream.engine import Engine
from proxy.upstream.lane import Call, Headers, Lane
from proxy.wire.request import Request


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes."""

    event_bytes: int
    reply_bytes: int


class Readiness(Protocol):
    """Keeps requests back while their engine is away or probed."""

    @property
    def is_open(self) -> bool:
        """Whether a request that comes now may go on at once."""
        ...

    @property
    def wait_seconds(self) -> float:
        """How long one request may wait, all its waits together."""
        ...

    async def wait(self) -> None:
        """Wait for a turn. Raises `NotReady` when there is no room or the time is over."""
        ...

    async def wait_again(self, calls: int, left_seconds: float) -> bool:
        """Wait after a call that was not accepted; whether it may be repeated now.

        `calls`: how many of this request were not accepted so far.
        """
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """What all exchanges share. `reviews` hears of flagged replies, where there is a queue.

    `recipe_model` and `expected` are what the recipe says, the latter as clients ask for it.
    `readiness`: None where requests never wait for their engine.
    """

    lane: Lane
    engine: Engine
    limits: Limits
    clock: Clock
    judge: Judge
    inject_usage: bool = True
    observe: bool = False
    recipe_model: str = ""
    expected: ServedModel = field(default_factory=ServedModel)
    reviews: Reviews | None = None
    readiness: Readiness | None = None


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request as it came: where to, with which headers for the upstream, when (monotonic).

    `read_seconds`, `queue_seconds`: how long its body and its admission were waited for;
    `ready_seconds`: that part of the latter in which its engine was not ready.
    """

    id: str
    endpoint: Endpoint
    method: str
    path: str
    headers: Headers
    request: Request
    received_at: float
    received_unix: float
    key: str | None = None
    read_seconds: float = 0.0
    queue_seconds: float = 0.0
    ready_seconds: float = 0.0


class Client(Protocol):
    """The other end of an exchange: an HTTP reply that is still to be written."""

    @property
    def started(self) -> bool:
        """Whether status and headers have gone out."""
        ...

    @property
    def ended(self) -> bool:
        """Whether the reply is complete."""
        ...

    async def start(self, status: int, headers: Headers) -> None: ...

    async def send(self, data: bytes) -> None:
        """Write and flush; returns when the client's buffer has room again."""
        ...

    async def end(self, data: bytes = b"") -> None: ...

    async def reply(self, status: int, headers: Headers, body: bytes) -> None:
        """A whole reply at once."""
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """One request, its policy and its plan."""

    parts: Parts
    arrival: Arrival
    policy: Policy | None
    plan: Plan
    body: bytes
    hides_usage: bool

    @property
    def request(self) -> Request:
        return self.arrival.request

    @property
    def attempts(self) -> Attempts:
        return self.policy.attempts if self.policy else NO_POLICY_ATTEMPTS

    @property
    def reads_events(self) -> bool:
        """Whether streams of this surface are chat or completion chunks."""
        return self.arrival.endpoint in (Endpoint.CHAT, Endpoint.COMPLETIONS)

    def call(self, body: bytes, number: int, step: AttemptStep) -> Call:
        headers = self.arrival.headers
        if number > 1:
            headers = [*headers, ("x-sluicegate-attempt", f"{number}; {step}")]
        return Call(self.arrival.method, self.arrival.path, headers, body)


# Without a policy a request is relayed once, whatever comes.
NO_POLICY_ATTEMPTS: Final = Attempts(
    max_attempts=1,
    deadline_seconds=0.0,
    max_extra_tokens=0,
    cold=False,
    upstream_faults=False,
    vary=Vary(fresh_seed=False, min_temperature=None, thinking_off=False),
    deliver_best=False,
)
