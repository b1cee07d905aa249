"""Heads of requests over real sockets, against the protocol as the server configures it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from uvicorn.server import ServerState

from proxy.http_protocol import BoundedHeadProtocol
from proxy.server import _config

KIB = 1024
LIMIT = 64 * KIB
GET = b"GET / HTTP/1.1\r\nhost: a\r\n"


class Hasty(BoundedHeadProtocol):
    head_seconds = 0.2


class App:
    """Answers with the size of the headers and of the body, once it may."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.gone = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.begun.set()
        await self.may_answer.wait()
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.gone.set()
                return
            size += len(message["body"])
            more = message["more_body"]
        told = {"headers": sum(len(value) for _, value in scope["headers"]), "body": size}
        body = json.dumps(told).encode()
        length = (b"content-length", str(len(body)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": body, "more_body": False})


class Client:
    """One connection that writes bytes as they are given."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self) -> tuple[int, dict[str, Any]]:
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
        return int(head.split()[1]), json.loads(await self.reader.readexactly(length))

    async def rest(self) -> bytes:
        """What comes until the connection ends, in whatever way it ends."""
        try:
            return await self.reader.read()
        except ConnectionError:
            return b""


@asynccontextmanager
async def listening(
    app: App, kind: type[BoundedHeadProtocol] | None = None
) -> AsyncIterator[Callable[[], Any]]:
    config = _config(app)
    config.load()
    protocol: Any = kind or config.http_protocol_class
    loop = asyncio.get_running_loop()
    state = ServerState()
    server = await loop.create_server(
        lambda: protocol(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    port = server.sockets[0].getsockname()[1]
    clients: list[Client] = []

    async def connect() -> Client:
        clients.append(Client(*await asyncio.open_connection("127.0.0.1", port)))
        return clients[-1]

    try:
        yield connect
    finally:
        for client in clients:
            client.writer.close()
        await asyncio.gather(
            *(client.writer.wait_closed() for client in clients), return_exceptions=True
        )
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize("piece", [LIMIT + 1, 1000], ids=["one_piece", "many_pieces"])
@pytest.mark.parametrize(
    "start", [b"GET / HTTP/1.1\r\nx: ", b"GET /", b"\r\n"], ids=["header", "path", "blank_lines"]
)
async def test_head_without_end_gets_431_and_the_connection_ends(start: bytes, piece: int) -> None:
    data = (start * LIMIT if start == b"\r\n" else start + b"a" * LIMIT)[: LIMIT + 1]
    async with listening(App()) as connect:
        client = await connect()

        for begin in range(0, len(data), piece):
            await client.send(data[begin : begin + piece])

        status, body = await client.reply()
        assert status == 431
        assert body["error"]["code"] == "headers_too_large"
        assert body["error"]["type"] == "invalid_request_error"
        assert await client.rest() == b""


async def test_whole_head_beyond_the_bound_gets_431_though_it_comes_at_once() -> None:
    async with listening(App()) as connect:
        client = await connect()

        await client.send(GET + b"x: " + b"a" * LIMIT + b"\r\n\r\n")

        assert (await client.reply())[0] == 431


async def test_large_piece_that_is_no_http_gets_one_400() -> None:
    async with listening(App()) as connect:
        client = await connect()

        await client.send(b"?" * (LIMIT + 1))

        assert (await client.rest()).count(b"HTTP/1.1 ") <= 1


async def test_client_that_goes_on_sending_still_gets_the_431() -> None:
    async with listening(App()) as connect:
        client = await connect()

        await client.send(GET + b"x: " + b"a" * 4 * LIMIT)
        reply = await client.reply()
        await client.send(b"a" * LIMIT)

        assert reply[0] == 431
        assert await client.rest() == b""


async def test_others_are_served_while_a_head_is_refused() -> None:
    async with listening(App()) as connect:
        other, offender = await connect(), await connect()
        await other.send(GET)
        await offender.send(GET + b"x: " + b"a" * LIMIT)
        await offender.reply()

        await other.send(b"\r\n")

        assert (await other.reply())[0] == 200


@pytest.mark.parametrize(
    "start", [b"", b"GET / HT", GET, b"\r\n"], ids=["nothing", "line", "headers", "blank_line"]
)
async def test_connection_whose_head_does_not_end_is_closed(start: bytes) -> None:
    async with listening(App(), Hasty) as connect:
        client = await connect()

        await client.send(start)

        assert await client.rest() == b""


@pytest.mark.parametrize(
    "first",
    [
        GET + b"\r\n",
        GET + b"connection: upgrade\r\nupgrade: websocket\r\n\r\n",
        b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nt: 1\r\n\r\n",
    ],
    ids=["plain", "upgrade", "chunked"],
)
class TestSecondRequestOfAConnection:
    async def test_head_is_bounded_anew(self, first: bytes) -> None:
        async with listening(App()) as connect:
            client = await connect()
            await client.send(first)
            await client.reply()

            await client.send(GET + b"x: " + b"a" * LIMIT)

            assert (await client.reply())[0] == 431

    async def test_head_that_does_not_end_is_closed(self, first: bytes) -> None:
        async with listening(App(), Hasty) as connect:
            client = await connect()
            await client.send(first)
            await client.reply()

            await client.send(GET)

            assert await client.rest() == b""


async def test_large_headers_within_the_bound_are_served_again_and_again() -> None:
    request = GET + b"x: " + b"a" * 20 * KIB + b"\r\n\r\n"
    async with listening(App()) as connect:
        client = await connect()

        replies = []
        for _ in range(8):
            await client.send(request)
            replies.append(await client.reply())

        assert replies == [(200, {"headers": 20 * KIB + 1, "body": 0})] * 8


async def test_head_of_exactly_the_bound_is_served() -> None:
    start, end = GET + b"x: ", b"\r\n\r\n"
    async with listening(App()) as connect:
        client = await connect()

        await client.send(start + b"a" * (LIMIT - len(start) - len(end)) + end)

        assert (await client.reply())[0] == 200


@pytest.mark.parametrize("chunk", [0, 3, 300 * KIB], ids=["by_length", "small_chunks", "chunks"])
async def test_large_body_arrives_whole(chunk: int) -> None:
    size = 30_000 if chunk == 3 else 1200 * KIB
    head = b"POST / HTTP/1.1\r\nhost: a\r\n"
    if chunk:
        one = b"%x\r\n" % chunk + b"b" * chunk + b"\r\n"
        data = head + b"transfer-encoding: chunked\r\n\r\n" + one * (size // chunk) + b"0\r\n\r\n"
    else:
        data = head + b"content-length: %d\r\n\r\n" % size + b"b" * size
    async with listening(App()) as connect:
        client = await connect()

        await client.send(data * 2)
        replies = [await client.reply(), await client.reply()]

        assert [(status, told["body"]) for status, told in replies] == [(200, size)] * 2


async def test_trailers_without_end_close_the_connection() -> None:
    app = App()
    async with listening(app) as connect:
        client = await connect()
        await client.send(b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n")
        await app.begun.wait()

        await client.send(b"x: " + b"a" * LIMIT)

        assert await client.rest() == b""
        await app.gone.wait()


async def test_running_reply_outlives_the_deadline_of_the_next_head() -> None:
    app = App()
    app.may_answer.clear()
    async with listening(app, Hasty) as connect:
        client = await connect()
        await client.send(GET + b"\r\n")
        await app.begun.wait()
        await client.send(GET)

        later = await connect()
        await later.send(GET)
        await later.rest()
        app.may_answer.set()

        assert (await client.reply())[0] == 200
        assert await client.rest() == b""


async def test_no_refusal_is_written_into_a_running_reply() -> None:
    app = App()
    app.may_answer.clear()
    async with listening(app) as connect:
        client = await connect()
        await client.send(GET + b"\r\n")
        await app.begun.wait()

        await client.send(GET + b"x: " + b"a" * LIMIT)

        assert await client.rest() == b""
        app.may_answer.set()
