"""The direct lane against a server that sends exactly the bytes of a script."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from proxy.errors import BadReply, Fault, TimedOut, Unreachable
from proxy.upstream.direct import DirectLane, Timeouts
from proxy.upstream.lane import Call, Headers
from tests.fakes.gate import eventually
from tests.fakes.upstream import completion, fake_upstream

OK_HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK_HEAD + b"transfer-encoding: chunked\r\n\r\n"
WHOLE = OK_HEAD + b"content-length: 2\r\n\r\n{}"


@dataclass
class RawServer:
    """Answers each request of a connection with `reply`, then the `later` bytes."""

    reply: bytes
    later: bytes = b""
    hangs: bool = False
    closes: bool = False
    url: str = ""
    connections: int = 0
    requests: int = 0
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            self.requests += 1
            writer.write(self.reply)
            await writer.drain()
            if self.later:
                await self.go_on.wait()
                writer.write(self.later)
                await writer.drain()
            if self.closes:
                return


@asynccontextmanager
async def _server(server: RawServer) -> AsyncIterator[RawServer]:
    listening = await asyncio.start_server(server.handle, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()


@asynccontextmanager
async def _lane(
    url: str, timeouts: Timeouts | None = None, key: str | None = None
) -> AsyncIterator[DirectLane]:
    lane = DirectLane("main", url, timeouts or Timeouts(2, 2, 2), key=key)
    try:
        yield lane
    finally:
        await lane.close()


def _call(path: str = "/v1/chat/completions", headers: Headers = (), body: bytes = b"") -> Call:
    return Call("POST", path, headers, body)


async def _read(lane: DirectLane, call: Call | None = None) -> bytes:
    with await lane.open(call or _call()) as reply:
        pieces = []
        while piece := await reply.chunk():
            pieces.append(piece)
        return b"".join(pieces)


def _usable_connections(lane: DirectLane) -> int:
    connector = lane._session.connector
    assert connector
    pooled = (protocol for waiting in connector._conns.values() for protocol, _ in waiting)
    return sum(protocol.is_connected() for protocol in pooled)


async def test_request_arrives_with_the_client_s_headers_and_no_others() -> None:
    headers = [("x-a", "1"), ("x-a", "2"), ("cookie", "c=1")]
    async with fake_upstream(completion()) as upstream, _lane(upstream.url + "/") as lane:
        await _read(lane, _call("/v1/x?q=%20é".replace("é", "%C3%A9"), headers, b"{}"))

    (received,) = upstream.calls
    assert received.path == "/v1/x?q=%20%C3%A9"
    assert received.body == b"{}"
    assert set(received.headers) == {"x-a", "cookie", "host", "content-length", "accept-encoding"}
    assert received.headers["accept-encoding"] == "identity"


async def test_key_of_the_lane_replaces_authorization() -> None:
    headers = [("authorization", "Bearer mine")]
    async with fake_upstream(completion()) as upstream, _lane(upstream.url, key="k") as lane:
        await _read(lane, _call(headers=headers))

    assert upstream.calls[0].headers["authorization"] == "Bearer k"


async def test_connection_is_used_again_after_a_reply_was_read_to_its_end() -> None:
    async with _server(RawServer(WHOLE)) as server, _lane(server.url) as lane:
        for _ in range(3):
            assert await _read(lane) == b"{}"

    assert (server.connections, server.requests) == (1, 3)


async def test_connection_of_a_reply_that_was_left_is_closed() -> None:
    async with (
        _server(RawServer(CHUNKED + b"2\r\n{}\r\n")) as server,
        _lane(server.url) as lane,
    ):
        for _ in range(2):
            with await lane.open(_call()) as reply:
                await reply.chunk()

    assert server.connections == 2


async def test_pooled_connection_that_the_upstream_closed_is_not_used() -> None:
    async with _server(RawServer(WHOLE, closes=True)) as server, _lane(server.url) as lane:
        await _read(lane)
        await eventually(lambda: not _usable_connections(lane))
        again = await _read(lane)

    assert again == b"{}"
    assert server.connections == 2


async def test_headers_of_the_reply_are_end_to_end_and_clean() -> None:
    head = (
        OK_HEAD + b"X-A: 1\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Bell: a\x07b\r\n"
        b"X-Latin: \xe9\r\nConnection: keep-alive,X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n"
        b"X-Sluicegate-Outcome: passed\r\nServer: s\r\nContent-Length: 0\r\n\r\n"
    )
    async with (
        _server(RawServer(head)) as server,
        _lane(server.url) as lane,
    ):
        with await lane.open(_call()) as reply:
            headers = list(reply.headers)

    assert headers == [
        ("x-a", "1"),
        ("set-cookie", "a=1"),
        ("set-cookie", "b=2"),
        ("x-bell", "a b"),
        ("x-latin", "\udce9"),
    ]


@pytest.mark.parametrize(
    ("kind", "is_stream"),
    [("text/event-stream; charset=utf-8", True), ("Text/Event-Stream", True), ("text/html", False)],
)
async def test_stream_is_known_by_its_content_type(kind: str, is_stream: bool) -> None:
    head = OK_HEAD + f"content-type: {kind}\r\ncontent-length: 0\r\n\r\n".encode()
    async with _server(RawServer(head)) as server, _lane(server.url) as lane:
        with await lane.open(_call()) as reply:
            assert reply.is_stream is is_stream


async def test_redirect_is_not_followed() -> None:
    head = b"HTTP/1.1 307 X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"
    async with _server(RawServer(head)) as server, _lane(server.url) as lane:
        with await lane.open(_call()) as reply:
            assert reply.status == 307


@pytest.mark.parametrize(
    "reply",
    [
        b"SSH-2.0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
        OK_HEAD + b"x-a: " + b"a" * 20_000 + b"\r\n\r\n",
        OK_HEAD + b"x-a: 1\rx-b: 2\r\n\r\n",
        CHUNKED + b"zz\r\n",
        b"",
    ],
    ids=["no_http", "two_lengths", "huge_header", "bare_cr", "bad_chunk", "nothing"],
)
async def test_what_is_not_http_is_a_bad_reply(reply: bytes) -> None:
    async with _server(RawServer(reply, closes=True)) as server, _lane(server.url) as lane:
        with pytest.raises(BadReply):
            await _read(lane)


@pytest.mark.parametrize(
    "reply",
    [OK_HEAD + b"content-length: 20\r\n\r\n{}", CHUNKED + b"2\r\n{}\r\n", CHUNKED + b"9\r\n{}"],
    ids=["length", "chunks", "chunk"],
)
async def test_reply_that_breaks_off_is_a_bad_reply(reply: bytes) -> None:
    async with _server(RawServer(reply, closes=True)) as server, _lane(server.url) as lane:
        with pytest.raises(BadReply, match="middle"):
            await _read(lane)


async def test_broken_chunk_in_a_running_stream_is_a_bad_reply_and_no_silence() -> None:
    server = RawServer(CHUNKED + b"2\r\n{}\r\n", later=b"zz\r\n")
    async with _server(server), _lane(server.url, Timeouts(30, 30, 30)) as lane:
        with await lane.open(_call()) as reply:
            assert await reply.chunk() == b"{}"
            server.go_on.set()
            async with asyncio.timeout(10):
                with pytest.raises(BadReply):
                    await reply.chunk()


async def test_stream_that_falls_silent_is_idle() -> None:
    server = RawServer(CHUNKED + b"2\r\n{}\r\n")
    async with _server(server), _lane(server.url, Timeouts(2, 2, 0.02)) as lane:
        with await lane.open(_call()) as reply:
            await reply.chunk()
            with pytest.raises(TimedOut) as idle:
                await reply.chunk()

    assert idle.value.code == Fault.UPSTREAM_IDLE


async def test_time_in_which_nobody_reads_is_not_the_upstream_s_silence() -> None:
    server = RawServer(CHUNKED + b"2\r\n{}\r\n", later=b"2\r\n[]\r\n0\r\n\r\n")
    timeouts = Timeouts(2, 2, 0.02)
    async with _server(server), _lane(server.url, timeouts) as lane:
        with await lane.open(_call()) as reply:
            first = await reply.chunk()
            await asyncio.sleep(5 * timeouts.idle_seconds)
            server.go_on.set()
            second = await reply.chunk()

    assert (first, second) == (b"{}", b"[]")


async def test_reply_that_does_not_begin_is_timed_out() -> None:
    async with (
        _server(RawServer(b"")) as server,
        _lane(server.url, Timeouts(1, 0.02, 1)) as lane,
    ):
        with pytest.raises(TimedOut) as late:
            await lane.open(_call())

    assert late.value.code == Fault.UPSTREAM_TIMEOUT


async def test_refused_connection_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    async with _lane(url) as lane:
        with pytest.raises(Unreachable, match="lane `main`"):
            await lane.open(_call())


async def test_name_that_is_not_known_is_unreachable() -> None:
    async with _lane("http://nowhere.invalid") as lane:
        with pytest.raises(Unreachable):
            await lane.open(_call())


async def test_server_that_shakes_no_hands_is_unreachable_by_https() -> None:
    async with (
        _server(RawServer(b"")) as server,
        _lane(server.url.replace("http:", "https:"), Timeouts(0.05, 2, 2)) as lane,
    ):
        with pytest.raises(Unreachable):
            await lane.open(_call())


async def test_header_with_a_line_end_goes_nowhere() -> None:
    async with fake_upstream(completion()) as upstream, _lane(upstream.url) as lane:
        with pytest.raises(BadReply):
            await lane.open(_call(headers=[("x-a", "1\r\nx-b: 2")]))

    assert upstream.calls == []


async def test_large_body_arrives_whole() -> None:
    body = b"x" * 3_000_000
    async with fake_upstream(completion()) as upstream, _lane(upstream.url) as lane:
        await _read(lane, _call(body=body))

    assert upstream.calls[0].body == body


async def test_paths_beyond_the_few_hot_ones_are_not_remembered() -> None:
    async with _server(RawServer(WHOLE)) as server, _lane(server.url) as lane:
        for number in range(70):
            assert await _read(lane, _call(f"/v1/models/{number}")) == b"{}"

    assert len(lane._urls) == 64


async def test_cancelled_call_closes_its_connection() -> None:
    async with fake_upstream() as upstream:
        upstream.script.append(completion())
        async with _lane(upstream.url) as lane:
            task = asyncio.create_task(lane.open(_call()))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

            assert lane._session.connector
            assert not lane._session.connector._acquired
