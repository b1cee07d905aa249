"""The engine's sequences: so many requests run at once, the others wait their turn."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Seats:
    """`running` and `waiting` are what vLLM's gauges show; `tokens` lie in the cache now."""

    def __init__(self, count: int) -> None:
        self._free = asyncio.Semaphore(count)
        self.running = 0
        self.waiting = 0
        self.tokens = 0

    @asynccontextmanager
    async def taken(self, prompt_tokens: int) -> AsyncIterator["Seat"]:
        """A seat once there is one; given back at the end, with its tokens."""
        self.waiting += 1
        try:
            await self._free.acquire()
        finally:
            self.waiting -= 1
        seat = Seat(self)
        self.running += 1
        seat.add(prompt_tokens)
        try:
            yield seat
        finally:
            seat.add(-seat.tokens)
            self.running -= 1
            self._free.release()


class Seat:
    """One running sequence."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats
        self.tokens = 0

    def add(self, tokens: int) -> None:
        self.tokens += tokens
        self._seats.tokens += tokens
