"""Keeps connections to one server: opens, hands out, takes back, and watches over them."""

import asyncio
import ssl
from dataclasses import dataclass
from typing import Final

from proxy.upstream.http_connection import HttpConnection

# vLLM closes idle connections after 5 s; a pooled one must be gone before.
_KEEP_ALIVE_SECONDS: Final = 4.0
_LOOK_SECONDS: Final = 1.0
_LOOKS: Final = 10


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds to connect, until a reply begins, and between two pieces of a stream."""

    connect_seconds: float = 5.0
    reply_seconds: float = 600.0
    idle_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens. `tls`: None for plain HTTP."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None


class ConnectionPool:
    """Connections to one address. Must be made inside a running event loop.

    One timer looks at all connections now and then, so that an exchange costs no timer of its own;
    a limit is kept to within a tenth of it, or a second.
    """

    def __init__(self, address: Address, timeouts: Timeouts) -> None:
        self._loop = asyncio.get_running_loop()
        self._address = address
        self._connect_seconds = timeouts.connect_seconds
        self._idle: list[tuple[HttpConnection, float]] = []
        self._busy: set[HttpConnection] = set()
        shortest = min(timeouts.reply_seconds, timeouts.idle_seconds) / _LOOKS
        self._look_seconds = min(shortest, _LOOK_SECONDS)
        self._timer = self._loop.call_later(self._look_seconds, self._look)

    async def take(self) -> HttpConnection:
        """A connection that is open: the one used last, or a new one.

        Raises `OSError` or `TimeoutError` where none comes about.
        """
        while self._idle:
            connection, since = self._idle.pop()
            if connection.is_open and self._loop.time() - since < _KEEP_ALIVE_SECONDS:
                self._busy.add(connection)
                return connection
            connection.close()
        connection = await self._connect()
        self._busy.add(connection)
        return connection

    def give_back(self, connection: HttpConnection) -> None:
        """Keep a connection for the next exchange if it is fit for one, else close it."""
        self._busy.discard(connection)
        if connection.is_reusable:
            self._idle.append((connection, self._loop.time()))
        else:
            connection.close()

    def close(self) -> None:
        self._timer.cancel()
        for connection in (*self._busy, *(idle for idle, _ in self._idle)):
            connection.close()
        self._idle.clear()

    async def _connect(self) -> HttpConnection:
        address = self._address
        async with asyncio.timeout(self._connect_seconds):
            _, connection = await self._loop.create_connection(
                lambda: HttpConnection(self._loop), address.host, address.port, ssl=address.tls
            )
        return connection

    def _look(self) -> None:
        for connection in tuple(self._busy):
            connection.tick(self._look_seconds)
        oldest = self._loop.time() - _KEEP_ALIVE_SECONDS
        while self._idle and (self._idle[0][1] < oldest or not self._idle[0][0].is_open):
            self._idle.pop(0)[0].close()
        self._timer = self._loop.call_later(self._look_seconds, self._look)
