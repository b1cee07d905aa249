import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from proxy.upstream.connection_pool import Address, ConnectionPool, Timeouts
from tests.fakes.gate import eventually
from tests.fakes.pool import busy, idle

REPLY = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while await reader.read(100):
            writer.write(REPLY)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


@asynccontextmanager
async def _pool(timeouts: Timeouts | None = None) -> AsyncIterator[ConnectionPool]:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    pool = ConnectionPool(Address("127.0.0.1", port), timeouts or Timeouts(2, 2, 2))
    try:
        yield pool
    finally:
        pool.close()
        server.close()
        await asyncio.sleep(0)


async def test_connection_used_last_is_taken_first() -> None:
    async with _pool() as pool:
        first, second = await pool.take(), await pool.take()
        for connection in (first, second):
            connection.send(b"x", b"", 2)
            await connection.head()
            await connection.read()
            pool.give_back(connection)

        assert (busy(pool), idle(pool)) == (0, 2)
        assert await pool.take() is second
        assert await pool.take() is first
        assert (busy(pool), idle(pool)) == (2, 0)


async def test_connection_whose_reply_is_not_over_is_not_kept() -> None:
    async with _pool() as pool:
        connection = await pool.take()
        connection.send(b"x", b"", 2)
        pool.give_back(connection)

        assert (busy(pool), idle(pool)) == (0, 0)
        assert not connection.is_open


async def test_connection_that_was_idle_for_long_is_closed() -> None:
    async with _pool(Timeouts(2, 0.05, 0.05)) as pool:
        connection = await pool.take()
        connection.send(b"x", b"", 2)
        await connection.head()
        await connection.read()
        pool.give_back(connection)
        pool._idle = [(kept, since - 60) for kept, since in pool._idle]

        await eventually(lambda: not connection.is_open)


async def test_refused_connection_is_an_os_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    pool = ConnectionPool(Address("127.0.0.1", port), Timeouts())

    with pytest.raises(OSError, match=r"refused|Connect"):
        await pool.take()

    pool.close()


async def test_closed_pool_leaves_no_connection() -> None:
    async with _pool() as pool:
        connection = await pool.take()
        pool.close()

        await eventually(lambda: not connection.is_open)
