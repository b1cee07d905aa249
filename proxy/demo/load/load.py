"""The load as a whole: a steady mix with bursts, and a line of what happened now and then."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import aiohttp

from proxy.demo.load.asks import Asks, Kind
from proxy.demo.load.sender import Sender, load_session
from proxy.demo.load.tally import Counts, difference, read_counts
from proxy.demo.race import first_of
from proxy.demo.run import RunningProxy

_BURSTS: Final = (6, 10, 18)
_BURST_SECONDS: Final = 45.0
_TALE_SECONDS: Final = 10.0
_LEAST_TALE_SECONDS: Final = 1.0
# Strict JSON soon after a start shows what the first answer of an engine is like.
_FIRST: Final = (Kind.STRICT_JSON, Kind.STREAM, Kind.CALL, Kind.TEASER)


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """`rate`: requests per second on average, beside bursts. `speed` divides every wait."""

    model: str
    rate: float = 0.8
    seed: int = 1
    speed: float = 1.0


Tell = Callable[[str], None]
"""Takes one line for the reader."""


async def run_load(proxy: RunningProxy, options: LoadOptions, tell: Tell) -> None:
    """Send requests until cancelled; open ones are left then."""
    chance = random.Random(f"load/{options.seed}")  # noqa: S311 - a mix of requests, no secret
    asks = Asks(options.model, chance)
    async with load_session() as session:
        sender = Sender(proxy.base_url, session)
        try:
            await first_of(
                _steady(sender, asks, options),
                _bursts(sender, asks, options),
                _tales(sender, proxy.admin_url, options.speed, tell),
            )
        finally:
            await sender.stop()


async def _steady(sender: Sender, asks: Asks, options: LoadOptions) -> None:
    for kind in _FIRST:
        sender.send(asks.ask(kind))
        await asyncio.sleep(0.5 / options.speed)
    while True:
        sender.send(asks.draw())
        await asyncio.sleep(asks.chance.expovariate(options.rate) / options.speed)


async def _bursts(sender: Sender, asks: Asks, options: LoadOptions) -> None:
    while True:
        await asyncio.sleep(_BURST_SECONDS * asks.chance.uniform(0.7, 1.3) / options.speed)
        for _ in range(asks.chance.choice(_BURSTS)):
            sender.send(asks.ask(Kind.STREAM))


async def _tales(sender: Sender, admin_url: str, speed: float, tell: Tell) -> None:
    before: Counts = {}
    while True:
        await asyncio.sleep(max(_LEAST_TALE_SECONDS, _TALE_SECONDS / speed))
        try:
            async with sender.session.get(f"{admin_url}/metrics") as response:
                now = read_counts(await response.text())
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            tell(f"the metrics cannot be read: {error}")
            continue
        unsent = f"; {sender.skipped} not sent in all" if sender.skipped else ""
        tell(difference(now, before) + unsent)
        before = now
