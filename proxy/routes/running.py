"""Exchanges that run; each may be ended from outside: its client leaves, or we must stop."""

import asyncio
from enum import Enum, auto
from types import TracebackType
from typing import Any, Self

from proxy.routes.asgi import Receive


class Ended(Enum):
    """Why an exchange was ended from outside."""

    CLIENT_GONE = auto()
    MUST_STOP = auto()


class Running:
    """One exchange, run by the task that enters it. Cancels that task once, and remembers why."""

    __slots__ = ("_all", "_over", "_receive", "_task", "_watcher", "ended")

    def __init__(self, exchanges: "RunningExchanges", receive: Receive) -> None:
        self._all = exchanges
        self._receive = receive
        self._over = False
        self.ended: Ended | None = None

    def end(self, why: Ended) -> None:
        if not self._over:
            self._over = True
            self.ended = why
            self._task.cancel()

    def take_back(self) -> None:
        """Undo the cancellation that `end` caused: it has served its purpose."""
        self._task.uncancel()

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("an exchange runs in a task")
        self._task: asyncio.Task[Any] = task
        self._watcher = asyncio.ensure_future(self._receive())
        self._watcher.add_done_callback(self._client_gone)
        self._all.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over = True
        self._watcher.cancel()
        self._all.discard(self)

    def _client_gone(self, _: object) -> None:
        self.end(Ended.CLIENT_GONE)


class RunningExchanges:
    """All exchanges that run now."""

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

    def watched(self, receive: Receive) -> Running:
        """`with running.watched(receive) as one:` ends the block when the client disconnects.

        An ending from outside arrives as `CancelledError`; `one.ended` says why.
        """
        return Running(self, receive)

    def add(self, running: Running) -> None:
        self._running.add(running)
        self._idle.clear()

    def discard(self, running: Running) -> None:
        self._running.discard(running)
        if not self._running:
            self._idle.set()
