"""The imitation on a socket: one uvicorn for each start of the engine, away in between."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

import uvicorn
from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from proxy.contract.clock import SystemClock
from proxy.demo.imitation.app import CUT, ImitationApp
from proxy.demo.imitation.engine_start import EngineStart, Pace
from proxy.demo.imitation.faults import FaultRates
from proxy.demo.imitation.variant import Variant
from proxy.demo.race import first_of
from proxy.server import bind

_HOST: Final = "127.0.0.1"
_GRACE_SECONDS: Final = 2
_AWAY_SECONDS: Final = 6.0


@dataclass(frozen=True, slots=True)
class ImitationOptions:
    """What is imitated and how. `restart_seconds` 0: only when asked. Times are divided by speed.

    `port` 0 takes a free one, which later starts keep.
    """

    variant: Variant
    rates: FaultRates
    seed: int = 1
    speed: float = 1.0
    port: int = 0
    restart_seconds: float = 0.0


@dataclass(slots=True)
class Imitation:
    """A running imitation. `starts` counts the starts of its engine."""

    url: str
    starts: int = 0
    task: "asyncio.Task[None] | None" = None
    _restart: asyncio.Event = field(default_factory=asyncio.Event)

    def restart(self) -> None:
        """End the engine under its requests, be away for a while, and start again."""
        self._restart.set()

    async def ended(self) -> None:
        """Wait for it to end by itself; raises why, as when another program took its port."""
        if self.task is not None:
            await asyncio.shield(self.task)

    async def told_to_restart(self) -> None:
        await self._restart.wait()
        self._restart.clear()


@asynccontextmanager
async def running_imitation(
    options: ImitationOptions,
) -> AsyncIterator[Imitation]:
    """Serve it until the block ends. Raises `SettingsError` where the port is taken."""
    listening = bind(_HOST, options.port, "--imitation-port")
    port: int = listening.getsockname()[1]
    imitation = Imitation(f"http://{_HOST}:{port}")
    starts = _Starts(options, imitation, Pace(SystemClock(), options.speed), port)
    imitation.task = asyncio.create_task(starts.run(listening))
    try:
        await first_of(starts.serving.wait(), imitation.ended())
        yield imitation
    finally:
        starts.stop.set()
        await imitation.task


@dataclass(slots=True)
class _Starts:
    """One engine start after the other."""

    options: ImitationOptions
    imitation: Imitation
    pace: Pace
    port: int
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    serving: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, listening: socket.socket) -> None:
        while True:
            await self._serve(listening)
            await self._pause(_AWAY_SECONDS)
            if self.stop.is_set():
                return
            listening = bind(_HOST, self.port, "--imitation-port")

    async def _serve(self, listening: socket.socket) -> None:
        """One start, from its first request to the last connection that is dropped."""
        self.imitation.starts += 1
        seed = f"{self.options.seed}/{self.imitation.starts}"
        start = EngineStart(self.options.variant, self.options.rates, seed, self.pace)
        server = _Server(ImitationApp(start), self.serving.set)
        task = asyncio.create_task(server.serve([listening]))
        try:
            await first_of(
                self.stop.wait(), self.imitation.told_to_restart(), self._time(), _end_of(task)
            )
        finally:
            start.over.set()
            server.should_exit = True
            await task

    async def _time(self) -> None:
        """Until the next restart that was ordered beforehand."""
        seconds = self.options.restart_seconds
        await (asyncio.sleep(seconds / self.pace.speed) if seconds else asyncio.Event().wait())

    async def _pause(self, seconds: float) -> None:
        await first_of(self.stop.wait(), asyncio.sleep(seconds / self.pace.speed))


class _Server(uvicorn.Server):
    """A uvicorn that tells when it serves, and leaves signals to the program."""

    def __init__(self, app: ImitationApp, on_ready: Callable[[], None]) -> None:
        super().__init__(_config(app))
        self._on_ready = on_ready

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    @override
    def capture_signals(self) -> Any:
        return nullcontext()


class _CuttingProtocol(HttpToolsProtocol):
    """Lets the application drop its connection, for which ASGI has no word."""

    @override
    def on_headers_complete(self) -> None:
        extensions: dict[str, Any] = {CUT: self.transport.abort}
        self.scope["extensions"] = extensions
        super().on_headers_complete()


async def _end_of(task: "asyncio.Task[None]") -> None:
    await asyncio.shield(task)


def _config(app: ImitationApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        interface="asgi3",
        loop="none",
        http=_CuttingProtocol,
        ws="none",
        proxy_headers=False,
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
