"""Exchanges that run; each may be ended from outside: its client leaves, or we must stop."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from enum import Enum, auto

from proxy.routes.asgi import Message


class Ended(Enum):
    """Why an exchange was ended from outside."""

    CLIENT_GONE = auto()
    MUST_STOP = auto()


class Running:
    """One exchange, run by the current task. Cancels that task once, and remembers why."""

    __slots__ = ("_over", "_task", "ended")

    def __init__(self, task: asyncio.Task[None]) -> None:
        self._task = task
        self._over = False
        self.ended: Ended | None = None

    def end(self, why: Ended) -> None:
        if not self._over:
            self._over = True
            self.ended = why
            self._task.cancel()

    def settle(self) -> None:
        """Nothing may end it any more: it is over, or is being ended."""
        self._over = True


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

    @contextmanager
    def watched(self, receive: Callable[[], Awaitable[Message]]) -> Iterator[Running]:
        """Run the block as an exchange that ends when the client disconnects.

        An ending from outside arrives as `CancelledError`; `ended` says why.
        """
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("an exchange runs in a task")
        running = Running(task)
        watcher = asyncio.ensure_future(receive())
        watcher.add_done_callback(lambda _: running.end(Ended.CLIENT_GONE))
        self._running.add(running)
        self._idle.clear()
        try:
            yield running
        finally:
            running.settle()
            watcher.cancel()
            self._running.discard(running)
            if not self._running:
                self._idle.set()
