"""One start of the imitated engine: what it serves, and what it counts until it ends."""

import asyncio
import random
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from proxy.contract.clock import Clock
from proxy.demo.imitation.answer import Answer, Token
from proxy.demo.imitation.asked import Asked, WrongRequest
from proxy.demo.imitation.engine_metrics import EngineMetrics, Served
from proxy.demo.imitation.fate import Fate
from proxy.demo.imitation.faults import FaultRates
from proxy.demo.imitation.schedule import Step, schedule
from proxy.demo.imitation.seats import Seat, Seats
from proxy.demo.imitation.variant import MAX_MODEL_LEN, Variant


@dataclass(frozen=True, slots=True)
class Pace:
    """How the imitation keeps time. `speed` divides every wait; 1 is the article's own."""

    clock: Clock
    speed: float = 1.0

    async def until(self, due: float) -> None:
        """Wait for an instant of the clock; at once where it is past."""
        await asyncio.sleep(max(0.0, due - self.clock.now()))


@dataclass(slots=True)
class EngineStart:
    """Made anew with every start: the same seed gives the n-th request the same answer."""

    variant: Variant
    rates: FaultRates
    seed: str
    pace: Pace
    over: asyncio.Event = field(default_factory=asyncio.Event)
    seats: Seats = field(init=False)
    metrics: EngineMetrics = field(init=False)
    fate: Fate = field(init=False)
    started_at: float = field(init=False)
    requests: int = 0

    def __post_init__(self) -> None:
        self.started_at = self.pace.clock.unix()
        self.seats = Seats(int(self.variant.seats.value))
        self.metrics = EngineMetrics(self.variant, self.seats, self.started_at)
        self.fate = Fate(self.rates, _chance(f"{self.seed}/faults"))

    def check(self, asked: Asked) -> None:
        """Raise `WrongRequest` for what vLLM would not begin."""
        if asked.model not in {None, self.variant.model}:
            message = f"The model `{asked.model}` does not exist. Valid: {self.variant.model}."
            raise WrongRequest(message, "model", 404)
        if asked.prompt_tokens + (asked.limit or 1) > MAX_MODEL_LEN:
            message = (
                f"This model's maximum context length is {MAX_MODEL_LEN} tokens. However, your "
                f"prompt contains {asked.prompt_tokens} input tokens."
            )
            raise WrongRequest(message, "input_tokens")

    def next_chance(self) -> random.Random:
        """The chance of the next request, which no other request disturbs."""
        self.requests += 1
        return _chance(f"{self.seed}/{self.requests}")

    async def generate(
        self, asked: Asked, answer: Answer, chance: random.Random
    ) -> AsyncGenerator[list[Token], None]:
        """The tokens of an answer, step by step, each when it is due."""
        tokens = list(answer.tokens())
        steps = schedule(self.variant, len(tokens), chance)
        arrived = self.pace.clock.now()
        async with self.seats.taken(asked.prompt_tokens) as seat:
            work = _Work(self, seat, arrived, self.pace.clock.now())
            self.metrics.began(asked.prompt_tokens)
            for step in steps:
                await self.pace.until(work.begun + step.at_seconds / self.pace.speed)
                work.take(step)
                yield tokens[work.tokens - step.tokens : work.tokens]
            self.metrics.served(work.served(answer.finish_reason, asked.prompt_tokens))


def _chance(seed: str) -> random.Random:
    return random.Random(seed)  # noqa: S311 - a schedule, no secret


@dataclass(slots=True)
class _Work:
    """How far one request has come, in seconds of the clock."""

    start: EngineStart
    seat: Seat
    arrived: float
    begun: float
    tokens: int = 0
    first: float = 0.0
    last: float = 0.0

    def take(self, step: Step) -> None:
        now = self.start.pace.clock.now()
        metrics = self.start.metrics
        if not self.tokens:
            self.first = now
            metrics.first_token(now - self.arrived)
        else:
            metrics.between_tokens(now - self.last)
        self.last = now
        self.tokens += step.tokens
        self.seat.add(step.tokens)
        metrics.stepped(step)

    def served(self, finish_reason: str, prompt_tokens: int) -> Served:
        # vLLM counts a tool call as an ordinary stop.
        return Served(
            finish_reason="length" if finish_reason == "length" else "stop",
            prompt_tokens=prompt_tokens,
            output_tokens=self.tokens,
            queued_seconds=self.begun - self.arrived,
            prefill_seconds=self.first - self.begun,
            decode_seconds=self.last - self.first,
        )
