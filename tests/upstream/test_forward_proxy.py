"""The lane through a forward proxy, with a small real one in between."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from proxy.errors import BadReply, Fault, TimedOut, Unreachable
from proxy.upstream.connection_pool import Timeouts
from proxy.upstream.forward_proxy import ForwardProxyLane
from proxy.upstream.lane import Call
from tests.fakes.upstream import completion, fake_upstream

HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.fixture(autouse=True)
def proxies(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The library reads the environment of the process itself."""
    for name in ("HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@asynccontextmanager
async def _lane(url: str, key: str | None = None) -> AsyncIterator[ForwardProxyLane]:
    lane = ForwardProxyLane("main", url, Timeouts(2, 2, 0.05), key=key)
    try:
        yield lane
    finally:
        await lane.close()


@asynccontextmanager
async def _answering(
    reply: bytes, *, closes: bool = True
) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that answers with these bytes whatever it is asked, and what it was asked."""
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            asked.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(reply)
            await writer.drain()
            if not closes:
                await reader.read()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
    finally:
        server.close()


async def _read(lane: ForwardProxyLane) -> bytes:
    with await lane.open(Call("POST", "/v1/chat/completions", (), b"{}")) as reply:
        pieces = []
        while piece := await reply.chunk():
            pieces.append(piece)
        return b"".join(pieces)


async def test_call_goes_to_the_proxy_of_the_environment(
    proxies: pytest.MonkeyPatch,
) -> None:
    async with _answering(HEAD + b"content-length: 2\r\n\r\n{}") as (proxy, asked):
        proxies.setenv("HTTP_PROXY", proxy)
        async with _lane("http://engine.invalid:8000/v1") as lane:
            assert await _read(lane) == b"{}"

    assert asked[0].startswith(b"POST http://engine.invalid:8000/v1/chat/completions HTTP/1.1")


async def test_without_a_proxy_the_upstream_is_called_itself() -> None:
    async with fake_upstream(completion("hi")) as upstream, _lane(upstream.url, "k") as lane:
        await _read(lane)

    assert upstream.calls[0].headers["authorization"] == "Bearer k"
    assert upstream.calls[0].headers["accept-encoding"] == "identity"


async def test_refused_connection_is_unreachable() -> None:
    async with _answering(b"") as (url, _):
        pass
    async with _lane(url) as lane:
        with pytest.raises(Unreachable, match="lane `main`"):
            await _read(lane)


@pytest.mark.parametrize(
    "reply",
    [b"SSH-2.0\r\n\r\n", b"", HEAD + b"content-length: 20\r\n\r\n{}"],
    ids=["no_http", "nothing", "breaks_off"],
)
async def test_broken_reply_is_a_bad_reply(reply: bytes) -> None:
    async with _answering(reply) as (url, _), _lane(url) as lane:
        with pytest.raises(BadReply):
            await _read(lane)


async def test_stream_that_falls_silent_is_idle() -> None:
    head = HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n"
    async with _answering(head, closes=False) as (url, _), _lane(url) as lane:
        with pytest.raises(TimedOut) as idle:
            await _read(lane)

    assert idle.value.code == Fault.UPSTREAM_IDLE
