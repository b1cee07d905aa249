"""Sends the load's requests as an impatient world would; what comes back is only read."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import aiohttp

from proxy.demo.load.asks import Ask

_SECONDS: Final = 180.0
MOST_OPEN: Final = 48


@dataclass(slots=True)
class Sender:
    """One client of the gate. `skipped` counts requests that found too many others open."""

    base_url: str
    session: aiohttp.ClientSession
    skipped: int = 0
    _open: set["asyncio.Task[None]"] = field(default_factory=set)

    def send(self, ask: Ask) -> None:
        """Begin a request; `stop` leaves it if it is still open then."""
        if len(self._open) >= MOST_OPEN:
            self.skipped += 1
            return
        task = asyncio.create_task(self._exchange(ask))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def stop(self) -> None:
        """Leave every open request."""
        tasks = set(self._open)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _exchange(self, ask: Ask) -> None:
        headers = {"content-type": "application/json", **ask.headers}
        url = self.base_url + ask.path
        # The gate tells how each request ended; what a client makes of it is its own affair.
        with suppress(aiohttp.ClientError, TimeoutError):
            async with self.session.post(url, data=ask.body, headers=headers) as response:
                async for _ in response.content.iter_any():
                    if ask.leaves:
                        response.close()
                        return


def load_session() -> aiohttp.ClientSession:
    """A session that keeps as many connections as the load may have open."""
    return aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=_SECONDS),
        connector=aiohttp.TCPConnector(limit=MOST_OPEN),
    )
