"""Keeps one engine: starts it, waits until it is ready, and stops it when the user wants.

Where that was asked for, an engine that died is started again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from proxy.launch.display import Display
from proxy.launch.engine_end import BootTooSlow, EngineDied
from proxy.launch.engine_log import EngineLog
from proxy.launch.engine_process import EngineProcess
from proxy.launch.engine_view import EngineView
from proxy.launch.log_file import LogFile
from proxy.launch.plan import LaunchPlan
from proxy.launch.restarts import Restarts
from proxy.launch.stop_signal import StopSignal

_LOOK_SECONDS: Final = 0.25

OnReady = Callable[[EngineLog, EngineView], Awaitable[None]]
"""Told of every engine that has become ready."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`boot_seconds` None: there is none. `stop_seconds` is for a clean end."""

    boot_seconds: float | None
    stop_seconds: float


@dataclass(frozen=True, slots=True)
class Supervisor:
    """`before_stop` is awaited while the engine still answers: the proxy drains then."""

    plan: LaunchPlan
    environ: Mapping[str, str]
    url: str
    limits: Limits
    restarts: Restarts
    display: Display
    log: LogFile
    stop: StopSignal
    on_ready: OnReady
    before_stop: Callable[[], Awaitable[None]]

    async def run(self) -> bool:
        """Keep the engine until the user wants it to stop; whether it was ready then.

        Raises `EngineDied` where it is not started again, `BootTooSlow` and `EngineUnstartable`.
        """
        while True:
            try:
                return await self._one_life()
            except EngineDied as death:
                pause_seconds = self.restarts.after(death.ready_seconds)
                if pause_seconds is None:
                    raise
                self.display.bad(str(death))
                self.display.note(f"starting it again in {pause_seconds:g} s")
                if await self._pauses(pause_seconds):
                    return False

    async def _one_life(self) -> bool:
        log = EngineLog(self.log, self.display, asyncio.get_running_loop().time)
        engine = await EngineProcess.start(self.plan, self.environ, log)
        ending = asyncio.create_task(engine.ended())
        try:
            async with EngineView(self.url) as view:
                is_ready = await self._boots(ending, log, view)
                ready_at = log.seconds
                if is_ready:
                    log.ready()
                    await self.on_ready(log, view)
                    await self._first_of(ending)
            if not self.stop.asked.is_set():
                raise self._death(ending.result(), log, log.seconds - ready_at)
            await self.before_stop()
            await engine.stop(self.limits.stop_seconds, self.stop.hurried)
            return is_ready
        finally:
            engine.kill()
            await ending

    async def _boots(self, ending: asyncio.Task[int], log: EngineLog, view: EngineView) -> bool:
        """Wait until it is healthy; False where the user does not want to."""
        while not await view.is_healthy():
            if ending.done():
                raise self._death(ending.result(), log, None)
            if self.limits.boot_seconds is not None and log.seconds > self.limits.boot_seconds:
                phase, path = log.boot.phase, self.log.path
                raise BootTooSlow(self.limits.boot_seconds, phase, path)
            log.tick()
            await self._first_of(ending, _LOOK_SECONDS)
            if self.stop.asked.is_set():
                return False
        return True

    def _death(self, status: int, log: EngineLog, ready_seconds: float | None) -> EngineDied:
        if ready_seconds is None:
            when = f"after {log.seconds:.1f} s, at `{log.boot.phase}`"
        else:
            when = f"after it had been ready for {ready_seconds:.0f} s"
        return EngineDied(when, status, log.tail(), self.log.path, ready_seconds)

    async def _first_of(self, ending: asyncio.Task[int], seconds: float | None = None) -> None:
        """Wait until the engine has ended or the user wants to stop, no longer than that."""
        asked = asyncio.create_task(self.stop.asked.wait())
        try:
            await asyncio.wait(
                {ending, asked}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            asked.cancel()

    async def _pauses(self, seconds: float) -> bool:
        """Wait; whether the user wanted to stop meanwhile."""
        try:
            async with asyncio.timeout(seconds):
                await self.stop.asked.wait()
        except TimeoutError:
            return False
        return True
