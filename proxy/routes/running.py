"""Visits that run; each may be ended from outside: its client leaves, or we must stop."""

import asyncio
from collections.abc import Callable
from enum import Enum, auto
from types import TracebackType
from typing import Any, Final, Self

from proxy.routes.asgi import AsgiClient, Receive

_LOOKS: Final = 4
# A watch takes a task, which replies that are there at once need not pay.
_WATCHED_AFTER_SECONDS: Final = 0.02


class Ended(Enum):
    """Why a visit was ended from outside."""

    CLIENT_GONE = auto()
    BODY_TOO_SLOW = auto()
    MUST_STOP = auto()


class Running:
    """One visit, run by the task that enters it. Cancels that task once, and remembers why.

    An ending from outside arrives as `CancelledError`; `ended` says why.
    """

    __slots__ = ("_all", "_over", "_stuck_client", "_task", "_watch", "_watcher", "ended")

    def __init__(self, visits: "RunningVisits") -> None:
        self._all = visits
        self._over = False
        self._watch: asyncio.TimerHandle | None = None
        self._watcher: asyncio.Future[Any] | None = None
        self._stuck_client: _StuckClient | None = None
        self.ended: Ended | None = None

    def watch(self, receive: Receive, client: AsgiClient) -> None:
        """End the visit when its client leaves, soon. To be called once the body has been read.

        A client that leaves with its whole reply has not left early.
        """
        self._watch = asyncio.get_running_loop().call_later(
            _WATCHED_AFTER_SECONDS, self._begin_watch, receive, client
        )

    def watch_writes(self, client: AsgiClient, write_seconds: float) -> None:
        """End the visit when one write of its stream waits so long for the client."""
        self._stuck_client = _StuckClient(
            client, write_seconds, lambda: self.end(Ended.CLIENT_GONE)
        )

    def end(self, why: Ended) -> None:
        if not self._over:
            self._over = True
            self.ended = why
            self._task.cancel()

    def _begin_watch(self, receive: Receive, client: AsgiClient) -> None:
        self._watcher = asyncio.ensure_future(receive())
        self._watcher.add_done_callback(lambda _: self._client_left(client))

    def _client_left(self, client: AsgiClient) -> None:
        if not client.ended:
            self.end(Ended.CLIENT_GONE)

    def take_back(self) -> None:
        """Undo the cancellation that `end` caused: it has served its purpose."""
        self._task.uncancel()

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a visit runs in a task")
        self._task: asyncio.Task[Any] = task
        self._all.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over = True
        if self._watch is not None:
            self._watch.cancel()
        if self._watcher is not None:
            self._watcher.cancel()
        if self._stuck_client is not None:
            self._stuck_client.stop()
        self._all.discard(self)


class _StuckClient:
    """Looks now and then whether one write has been waiting for its client all the time."""

    __slots__ = ("_client", "_handle", "_interval", "_looks", "_loop", "_on_stuck", "_writes")

    def __init__(self, client: AsgiClient, seconds: float, on_stuck: Callable[[], None]) -> None:
        self._client = client
        self._on_stuck = on_stuck
        self._interval = seconds / _LOOKS
        self._loop = asyncio.get_running_loop()
        self._looks = 0
        self._writes = -1
        self._handle = self._loop.call_later(self._interval, self._look)

    def stop(self) -> None:
        self._handle.cancel()

    def _look(self) -> None:
        is_same = self._client.is_writing and self._client.writes == self._writes
        self._looks = self._looks + 1 if is_same else 0
        self._writes = self._client.writes
        if self._looks >= _LOOKS:
            self._on_stuck()
            return
        self._handle = self._loop.call_later(self._interval, self._look)


class RunningVisits:
    """All visits that run now."""

    def __init__(self) -> None:
        self._running: set[Running] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    def __len__(self) -> int:
        return len(self._running)

    async def idle(self) -> None:
        """Return when none runs."""
        await self._idle.wait()

    def stop_all(self) -> None:
        for running in tuple(self._running):
            running.end(Ended.MUST_STOP)

    def one(self) -> Running:
        """A visit that begins: `with visits.one() as running:`."""
        return Running(self)

    def add(self, running: Running) -> None:
        self._running.add(running)
        self._idle.clear()

    def discard(self, running: Running) -> None:
        self._running.discard(running)
        if not self._running:
            self._idle.set()
