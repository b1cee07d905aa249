"""One connection without a network: bytes in, what the reader gets, and what breaks it."""

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from proxy.upstream.http_connection import Broken, ConnectionBroken, HttpConnection

REPLY = (
    b"HTTP/1.1 100 Continue\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: caf\xc3\xa9 \xe9\r\ntransfer-encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\n1;ext=1\r\n \r\n5\r\nworld\r\n0\r\nx-trailer: 1\r\n\r\n"
)
HEADERS = [("x-a", "1"), ("x-a", "caf\xe9 \udce9"), ("transfer-encoding", "chunked")]


class Wire(asyncio.Transport):
    """A transport that goes nowhere."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.is_aborted = False
        self.is_paused = False

    @override
    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent += bytes(data)

    @override
    def get_write_buffer_size(self) -> int:
        return 0

    @override
    def is_closing(self) -> bool:
        return self.is_aborted

    @override
    def abort(self) -> None:
        self.is_aborted = True

    @override
    def pause_reading(self) -> None:
        self.is_paused = True

    @override
    def resume_reading(self) -> None:
        self.is_paused = False


def _connection(loop: asyncio.AbstractEventLoop) -> tuple[HttpConnection, Wire]:
    connection, wire = HttpConnection(loop), Wire()
    connection.connection_made(wire)
    return connection, wire


async def _all(connection: HttpConnection) -> bytes:
    body = b""
    while piece := await connection.read():
        body += piece
    return body


@given(st.sets(st.integers(1, len(REPLY) - 1)))
def test_any_split_of_the_bytes_gives_the_same_reply(cuts: set[int]) -> None:
    places = [0, *sorted(cuts), len(REPLY)]

    async def read() -> tuple[int, list[tuple[str, str]], bytes, bool]:
        connection, _ = _connection(asyncio.get_running_loop())
        connection.send(b"", b"", 1)
        for begin, end in pairwise(places):
            connection.data_received(REPLY[begin:end])
        await connection.head()
        body = await _all(connection)
        return connection.status, connection.headers, body, connection.is_reusable

    assert asyncio.run(read()) == (200, HEADERS, b"hello world", True)


@given(st.binary(max_size=300), st.booleans())
def test_no_bytes_raise_anything_but_a_broken_connection(junk: bytes, after_head: bool) -> None:
    async def feed() -> None:
        connection, _ = _connection(asyncio.get_running_loop())
        connection.send(b"", b"", 1)
        connection.data_received((REPLY[:120] if after_head else b"") + junk)
        connection.connection_lost(None)
        try:
            await connection.head()
            await _all(connection)
        except ConnectionBroken:
            pass

    asyncio.run(feed())


async def test_exchange_follows_exchange() -> None:
    connection, wire = _connection(asyncio.get_running_loop())
    bodies = []
    for number in range(2):
        connection.send(b"head%d " % number, b"body", 1)
        connection.data_received(REPLY)
        await connection.head()
        bodies.append(await _all(connection))

    assert wire.sent == b"head0 bodyhead1 body"
    assert bodies == [b"hello world"] * 2


async def test_what_was_read_is_handed_out_before_the_break() -> None:
    connection, _ = _connection(asyncio.get_running_loop())
    connection.send(b"", b"", 1)
    connection.data_received(REPLY[:-40])
    connection.connection_lost(None)
    await connection.head()

    assert (await connection.read()).startswith(b"hello")
    with pytest.raises(ConnectionBroken) as broken:
        await connection.read()
    assert broken.value.why is Broken.LOST


async def test_reset_is_no_end_of_a_body_without_a_length() -> None:
    connection, _ = _connection(asyncio.get_running_loop())
    connection.send(b"", b"", 1)
    connection.data_received(b"HTTP/1.1 200 OK\r\n\r\nhalf of")
    connection.connection_lost(ConnectionResetError())
    await connection.head()
    await connection.read()

    with pytest.raises(ConnectionBroken):
        await connection.read()


async def test_connection_that_says_close_is_not_reusable() -> None:
    connection, _ = _connection(asyncio.get_running_loop())
    connection.send(b"", b"", 1)
    connection.data_received(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx")

    assert await _all(connection) == b"x"
    assert not connection.is_reusable


async def test_silence_breaks_what_is_waited_for_and_only_that() -> None:
    connection, wire = _connection(asyncio.get_running_loop())
    connection.send(b"", b"", patience_seconds=2)
    for _ in range(10):
        connection.tick(1)
    was_aborted_early = wire.is_aborted

    waiting = asyncio.create_task(connection.head())
    await asyncio.sleep(0)
    for _ in range(3):
        connection.tick(1)

    assert (was_aborted_early, wire.is_aborted) == (False, True)
    with pytest.raises(ConnectionBroken) as broken:
        await waiting
    assert broken.value.why is Broken.SILENT


async def test_upstream_is_paused_while_nobody_reads() -> None:
    connection, wire = _connection(asyncio.get_running_loop())
    connection.send(b"", b"", 1)
    connection.data_received(b"HTTP/1.1 200 OK\r\ncontent-length: 900000\r\n\r\n" + b"x" * 300_000)
    assert wire.is_paused
    assert not connection.is_reusable

    await connection.read()

    assert not wire.is_paused


async def test_endless_head_is_refused() -> None:
    connection, wire = _connection(asyncio.get_running_loop())
    connection.send(b"", b"", 1)
    connection.data_received(b"HTTP/1.1 200 OK\r\nx-a: ")
    for _ in range(20):
        connection.data_received(b"a" * 4096)

    assert wire.is_aborted
    with pytest.raises(ConnectionBroken):
        await connection.head()
