"""The direct lane against a server that sends exactly the bytes of a script."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest

from proxy.errors import BadReply, Fault, TimedOut, Unreachable
from proxy.upstream.connection_pool import Timeouts
from proxy.upstream.direct import DirectLane
from proxy.upstream.lane import Call, Headers
from tests.fakes.gate import eventually
from tests.fakes.pool import busy, idle, paused
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
    open: int = 0
    requests: int = 0
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            self.open -= 1

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
        server.go_on.set()
        await eventually(lambda: not server.open)


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
        await eventually(lambda: not idle(lane._pool))
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
        OK_HEAD + b"x-a: " + b"a" * 70_000 + b"\r\n\r\n",
        OK_HEAD + b"x-a: 1\rx-b: 2\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        CHUNKED + b"zz\r\n",
        b"",
    ],
    ids=[
        "no_http",
        "two_lengths",
        "huge_header",
        "bare_cr",
        "upgrade",
        "bad_chunk",
        "nothing",
    ],
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


async def test_cancelled_call_closes_its_connection() -> None:
    async with _server(RawServer(b"")) as server, _lane(server.url) as lane:
        task = asyncio.create_task(lane.open(_call()))
        await eventually(lambda: server.requests == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        await eventually(lambda: not server.open)
        assert not busy(lane._pool)
        assert not idle(lane._pool)


async def test_body_without_a_length_ends_with_its_connection() -> None:
    async with (
        _server(RawServer(OK_HEAD + b"\r\nall of it", closes=True)) as server,
        _lane(server.url) as lane,
    ):
        assert await _read(lane) == b"all of it"
        assert not idle(lane._pool)


async def test_interim_reply_is_passed_over() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
    async with _server(RawServer(early + WHOLE)) as server, _lane(server.url) as lane:
        with await lane.open(_call()) as reply:
            assert (reply.status, list(reply.headers)) == (200, [])
            assert await reply.chunk() == b"{}"


async def test_second_reply_that_nobody_asked_for_is_never_read_as_the_first() -> None:
    other = OK_HEAD + b"content-length: 3\r\n\r\n[1]"
    async with _server(RawServer(WHOLE + other)) as server, _lane(server.url) as lane:
        assert [await _read(lane) for _ in range(2)] == [b"{}", b"{}"]

    assert server.connections == 2


async def test_bytes_after_a_reply_close_its_connection() -> None:
    server = RawServer(WHOLE, later=WHOLE)
    async with _server(server), _lane(server.url) as lane:
        await _read(lane)
        server.go_on.set()
        await eventually(lambda: not idle(lane._pool))
        assert await _read(lane) == b"{}"

    assert server.connections == 2


async def test_trailers_are_no_headers() -> None:
    chunks = CHUNKED + b"2\r\n{}\r\n0\r\nx-late: 1\r\n\r\n"
    async with _server(RawServer(chunks)) as server, _lane(server.url) as lane:
        with await lane.open(_call()) as reply:
            while await reply.chunk():
                pass
            assert list(reply.headers) == []


async def test_upstream_waits_while_nobody_reads_and_all_of_it_arrives() -> None:
    piece = b"x" * 1_000_000
    body = b"%x\r\n%s\r\n" % (len(piece), piece)
    raw = RawServer(CHUNKED + body * 8 + b"0\r\n\r\n")
    async with _server(raw) as server, _lane(server.url) as lane:
        with await lane.open(_call()) as reply:
            await eventually(lambda: paused(lane._pool) == 1)
            first = await reply.chunk()
            size = len(first)
            while more := await reply.chunk():
                size += len(more)

    assert len(first) < 1_000_000
    assert size == 8_000_000


async def test_odd_bytes_of_a_path_and_a_header_arrive_as_they_were() -> None:
    headers = [("x-a", "caf\u00e9 \udce9")]
    async with fake_upstream(completion()) as upstream, _lane(upstream.url) as lane:
        await _read(lane, _call("/v1/x?q=a%20b", headers, b"{}"))

    assert upstream.calls[0].headers["x-a"].encode("latin-1") == b"caf\xc3\xa9 \xe9"
