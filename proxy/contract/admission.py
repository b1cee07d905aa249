"""Admission: how many requests may be at the upstream at once, and how many may wait."""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

from proxy.errors import QueueFull


class Admission:
    """A bounded, first-come-first-served gate: `async with admission:` around an exchange.

    Raises `QueueFull` when the queue is full or the wait exceeds `wait_seconds`. `kept` is for
    those who have a place already.
    """

    def __init__(self, concurrent: int, queue: int, wait_seconds: float) -> None:
        self._free = concurrent
        self._queue = queue
        self._wait_seconds = wait_seconds
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def depth(self) -> int:
        """Requests that are waiting."""
        return len(self._waiting)

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Enter after a wait elsewhere that was bounded by the same number: no queue is too full.

        Raises `QueueFull` when the wait exceeds `wait_seconds`.
        """
        await self._enter(math.inf)
        try:
            yield
        finally:
            self._release()

    async def __aenter__(self) -> Self:
        await self._enter(self._queue)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._release()

    async def _enter(self, most: float) -> None:
        if self._free > 0:
            self._free -= 1
            return
        if len(self._waiting) >= most:
            raise QueueFull(
                "Too many requests are waiting for the upstream.", retry_after_seconds=1
            )
        await self._wait()

    async def _wait(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(self._wait_seconds):
                await turn
        except TimeoutError:
            self._forgo(turn)
            raise QueueFull(
                f"No room at the upstream within {self._wait_seconds:g} s.", retry_after_seconds=1
            ) from None
        except asyncio.CancelledError:
            self._forgo(turn)
            raise

    def _forgo(self, turn: asyncio.Future[None]) -> None:
        """Give a turn back that came too late, or leave the queue."""
        if turn.done() and not turn.cancelled():
            self._release()
        elif turn in self._waiting:
            self._waiting.remove(turn)

    def _release(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
