"""The launcher's side of an engine: started through its keeper, read, stopped, waited for."""

import asyncio
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

import msgspec

from proxy.errors import SluicegateError
from proxy.launch import keeper, session
from proxy.launch.keeper import Ended, Failed, Order, Report, Started
from proxy.launch.plan import LaunchPlan

_REPORT: Final = msgspec.json.Decoder(Report)
_PIECE_BYTES: Final = 65536
# What only this program needs is no business of the engine's.
_OWN_PREFIX: Final = "SLUICEGATE_"
# When nobody can tell any more how the engine ended.
_UNKNOWN_STATUS: Final = -9

Listener = Callable[[bytes], None]
"""Takes what the engine prints, piece by piece."""


class EngineUnstartable(SluicegateError):
    """vLLM's program could not be started at all."""


class EngineProcess:
    """A running engine: all of its processes. What it prints goes to `listener`."""

    def __init__(self, watched: asyncio.subprocess.Process, pid: int, listener: Listener) -> None:
        self.pid = pid
        self._keeper = watched
        self._reading = asyncio.create_task(self._read(listener))
        self._ending = asyncio.create_task(self._wait())

    @classmethod
    async def start(
        cls, plan: LaunchPlan, environ: Mapping[str, str], listener: Listener
    ) -> "EngineProcess":
        """Start what is planned, in a session of its own. Raises `EngineUnstartable`.

        `environ` is the launcher's environment, over which the plan's is laid.
        """
        # -P: a folder named `proxy` where the user happens to stand is not this package.
        watched = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", keeper.__name__),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        kept = {name: value for name, value in environ.items() if not name.startswith(_OWN_PREFIX)}
        order = Order(plan.arguments, {**kept, **plan.environment})
        _tell(watched, msgspec.json.encode(order) + b"\n")
        try:
            report = await _heard(watched)
        except BaseException:
            await _let_go(watched)
            raise
        if isinstance(report, Started):
            return cls(watched, report.pid, listener)
        reason = report.reason if isinstance(report, Failed) else await _last_words(watched)
        await _let_go(watched)
        raise EngineUnstartable(f"{plan.arguments[0]} could not be started: {reason}")

    async def ended(self) -> int:
        """Wait until every process is gone and all was read; how the first one ended.

        Negative: by that signal.
        """
        return await asyncio.shield(self._ending)

    async def stop(self, grace_seconds: float, hurry: asyncio.Event) -> int:
        """Ask it to end, and end it when the time is over or `hurry` is set; as `ended`."""
        _tell(self._keeper, b"terminate\n")
        hurried = asyncio.create_task(hurry.wait())
        try:
            await asyncio.wait(
                {self._ending, hurried},
                timeout=grace_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            hurried.cancel()
            self.kill()
        return await self.ended()

    def kill(self) -> None:
        """End every process of it, at once."""
        _hang_up(self._keeper)

    async def _wait(self) -> int:
        report = await _heard(self._keeper)
        if not isinstance(report, Ended):  # somebody killed the keeper: its work is left to us
            await asyncio.to_thread(session.end_session, self.pid)
        _hang_up(self._keeper)
        await self._reading
        await self._keeper.wait()
        return report.status if isinstance(report, Ended) else _UNKNOWN_STATUS

    async def _read(self, listener: Listener) -> None:
        stream = self._keeper.stderr
        while stream is not None and (piece := await stream.read(_PIECE_BYTES)):
            listener(piece)


async def _heard(watched: asyncio.subprocess.Process) -> Report | None:
    """The next report; None when there will be none."""
    if watched.stdout is None:
        return None
    try:
        return _REPORT.decode(await watched.stdout.readline())
    except (msgspec.MsgspecError, ValueError):
        return None


async def _last_words(watched: asyncio.subprocess.Process) -> str:
    """What a keeper that does not work says."""
    said = await watched.stderr.read(_PIECE_BYTES) if watched.stderr else b""
    lines = said.decode(errors="replace").splitlines()
    return lines[-1] if lines else "its keeper ended without a word"


def _tell(watched: asyncio.subprocess.Process, line: bytes) -> None:
    if watched.stdin is not None and not watched.stdin.is_closing():
        watched.stdin.write(line)


def _hang_up(watched: asyncio.subprocess.Process) -> None:
    if watched.stdin is not None:
        with suppress(OSError, RuntimeError):
            watched.stdin.close()


async def _let_go(watched: asyncio.subprocess.Process) -> None:
    """Hang up on a keeper without an engine, which ends it."""
    _hang_up(watched)
    await watched.wait()
