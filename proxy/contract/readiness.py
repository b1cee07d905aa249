"""Whether requests may go to a lane's engine now, and where they wait until they may.

Made only where the settings want a probe or a wait. While nobody waits, it costs a request one look
at what the engine's state is; while somebody does, the engine is looked at more often.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

from typing_extensions import override

from proxy.contract.job import Readiness
from proxy.contract.probe import Probe, ProbeStatus
from proxy.errors import NotReady
from proxy.telemetry.outcome import ReadyWait
from proxy.upstream.engine import Engine, EngineState

# Between two looks, and between two calls of a request that are not accepted: up to one second.
_FIRST_PAUSE_SECONDS: Final = 0.25
_DOUBLINGS: Final = 2
# Calls that one request may make in vain before it counts as refused.
_MOST_CALLS: Final = 30
_AWAY_RETRY_SECONDS: Final = 5
_PROBE_RETRY_SECONDS: Final = 2

WaitObserver = Callable[[ReadyWait], None]


class Looks(Protocol):
    """What looks at an engine and tells it what was seen."""

    async def look(self) -> None: ...


@dataclass(frozen=True, slots=True)
class WaitBounds:
    """How long a request waits, how many may, and how often nobody needs an answer soon."""

    wait_seconds: float
    most_waiting: int
    poll_seconds: float


class EngineReadiness(Readiness):
    """Keeps requests back while an engine is away or probed. `run` it as long as it is used."""

    def __init__(
        self,
        engine: Engine,
        looks: Looks,
        bounds: WaitBounds,
        observer: WaitObserver,
        probe: Probe | None = None,
    ) -> None:
        self._engine = engine
        self._looks = looks
        self._bounds = bounds
        self._observer = observer
        self._probe = probe
        self._turns: deque[asyncio.Future[bool]] = deque()
        self._pausing = 0
        self._hurry = asyncio.Event()
        if probe is not None:
            probe.on_change = self._tend

    @property
    @override
    def is_open(self) -> bool:
        """Whether a request that comes now may go on at once; those who wait go first."""
        return not self._turns and self.is_ready

    @property
    def is_ready(self) -> bool:
        """Whether the engine answers and its probe, if it has one, lets requests through."""
        if self._engine.is_away:
            return False
        return self._probe is None or self._probe.is_open

    @property
    def waiting(self) -> int:
        """Requests that wait."""
        return len(self._turns) + self._pausing

    @property
    @override
    def wait_seconds(self) -> float:
        return self._bounds.wait_seconds

    @property
    def probe_status(self) -> ProbeStatus | None:
        return self._probe.status if self._probe else None

    @override
    async def wait(self) -> None:
        """Wait for the turn of a request that has just come, first come first served.

        Raises `NotReady` when there is no room or the time is over, and at once while a probe that
        failed keeps the lane closed.
        """
        bounds = self._bounds
        no_room = not self.is_ready and self.waiting >= bounds.most_waiting
        if no_room or self._is_shut or not bounds.wait_seconds:
            self._observer(ReadyWait.REFUSED)
            raise self._refusal(f"{self.waiting} requests wait already." if no_room else "")
        if not await self._waited(self._turn(), bounds.wait_seconds):
            raise self._refusal(f"Waited {bounds.wait_seconds:g} s.")

    @override
    async def wait_again(self, calls: int, left_seconds: float) -> bool:
        """Wait after a call that was not accepted; whether it may be repeated now.

        `calls`: how many of this request were not accepted so far. `left_seconds`: what is left of
        its time to wait. The engine may not know yet that it is away, so a pause comes first.
        """
        if left_seconds <= 0 or calls > _MOST_CALLS or self._is_shut:
            self._observer(ReadyWait.REFUSED)
            return False
        return await self._waited(self._pause_and_turn(calls), left_seconds)

    async def run(self) -> None:
        """Look at the engine, and probe it where that is wanted, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep_looking())
            if self._probe is not None:
                group.create_task(self._probe.run())

    async def _waited(self, turn: Coroutine[Any, Any, bool], seconds: float) -> bool:
        """Wait for a turn, counted by how it ends; false where it comes to nothing."""
        how = ReadyWait.GONE
        try:
            async with asyncio.timeout(seconds):
                may_go = await turn
            how = ReadyWait.SERVED if may_go else ReadyWait.REFUSED
        except TimeoutError:
            how = ReadyWait.REFUSED
        finally:
            self._observer(how)
        return how is ReadyWait.SERVED

    async def _turn(self) -> bool:
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[bool] = loop.create_future()
        self._turns.append(turn)
        # Not at once: who waits for what has come does not yield, and would overtake the others.
        loop.call_soon(self._tend)
        try:
            return await turn
        finally:
            self._turns.remove(turn)

    async def _pause_and_turn(self, calls: int) -> bool:
        self._pausing += 1
        try:
            self._hurry.set()
            await asyncio.sleep(self._pause_seconds(calls))
        finally:
            self._pausing -= 1
        return self.is_ready or await self._turn()

    def _tend(self) -> None:
        """Act on what has changed: the probe, those who wait, how soon to look again."""
        if self._probe is not None:
            self._probe.tend()
        if self.is_ready or self._is_shut:
            for turn in self._turns:
                if not turn.done():
                    turn.set_result(self.is_ready)
        elif self._is_hurried:
            self._hurry.set()

    @property
    def _is_shut(self) -> bool:
        """Whether waiting is in vain: the probe has failed and is not repeated yet."""
        probe = self._probe
        return probe is not None and probe.again_in_seconds is not None

    @property
    def _is_hurried(self) -> bool:
        """Whether somebody waits for what only a look can tell."""
        return bool(self._pausing or (self._turns and self._engine.is_away))

    async def _keep_looking(self) -> None:
        looks = 0
        self._tend()
        while True:
            looks = looks + 1 if self._is_hurried else 0
            if looks or await self._is_asked_to_hurry():
                looks = max(1, looks)
                await asyncio.sleep(self._pause_seconds(looks))
            await self._looks.look()
            self._tend()

    async def _is_asked_to_hurry(self) -> bool:
        """Wait until it is time for the next look, or somebody needs one soon."""
        self._hurry.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._bounds.poll_seconds):
                return await self._hurry.wait()
        return False

    def _pause_seconds(self, number: int) -> float:
        """The pause before a look or a call, counted from 1; never longer than between looks."""
        doubled = _FIRST_PAUSE_SECONDS * (1 << min(number - 1, _DOUBLINGS))
        return min(doubled, self._bounds.poll_seconds)

    def _refusal(self, detail: str) -> NotReady:
        """What the engine is doing, as an error that says when to come again."""
        if self._engine.state is EngineState.UNREACHABLE:
            return _not_ready(
                "The engine cannot be reached.", detail, "engine_unreachable", _AWAY_RETRY_SECONDS
            )
        if self._engine.state is EngineState.LOADING:
            message = (
                "The engine is asleep."
                if self._engine.is_asleep
                else "The engine is loading its model."
            )
            return _not_ready(message, detail, "engine_loading", _AWAY_RETRY_SECONDS)
        again = self._probe.again_in_seconds if self._probe else None
        if again is not None:
            message = "The engine's answers to the probe were not valid."
            return _not_ready(message, "", "probe_failed", math.ceil(again))
        message = "The engine has just been started and is being probed."
        return _not_ready(message, detail, "engine_warming", _PROBE_RETRY_SECONDS)


def _not_ready(message: str, detail: str, code: str, seconds: int) -> NotReady:
    text = f"{message} {detail}".rstrip()
    return NotReady(text, code=code, retry_after_seconds=max(1, seconds))
