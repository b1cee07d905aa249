import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.test_utils import TestServer

from proxy.demo.load.asks import Ask, Kind
from proxy.demo.load.sender import MOST_OPEN, Sender, load_session

ASK = Ask(Kind.TEXT, "/chat", b"{}", {"x-policy": "one"})


@dataclass
class Heard:
    """Requests as they arrive, and whether each was left before its end."""

    requests: "asyncio.Queue[web.Request]" = field(default_factory=asyncio.Queue)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Sends one event and then nothing more."""
        await self.requests.put(request)
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"data: {}\n\n")
        try:
            await asyncio.Event().wait()
        finally:
            self.left.set()
        return response


@asynccontextmanager
async def sending() -> AsyncIterator[tuple[Sender, Heard]]:
    heard = Heard()
    app = web.Application()
    app.router.add_post("/chat", heard.stream)
    async with TestServer(app, handler_cancellation=True) as server, load_session() as session:
        sender = Sender(str(server.make_url("")).rstrip("/"), session)
        yield sender, heard
        await sender.stop()


async def test_request_carries_body_and_headers() -> None:
    async with sending() as (sender, heard):
        sender.send(ASK)
        request = await heard.requests.get()

    assert request.headers["x-policy"] == "one"
    assert request.content_type == "application/json"


async def test_client_that_leaves_does_so_after_the_first_event() -> None:
    async with sending() as (sender, heard):
        sender.send(Ask(Kind.LEAVING, "/chat", b"{}", leaves=True))

        await heard.left.wait()


async def test_stop_leaves_what_is_open() -> None:
    async with sending() as (sender, heard):
        sender.send(ASK)
        await heard.requests.get()

        await sender.stop()
        await heard.left.wait()


async def test_open_requests_are_bounded() -> None:
    async with sending() as (sender, _):
        for _ in range(MOST_OPEN + 3):
            sender.send(ASK)

        assert sender.skipped == 3


async def test_gate_that_is_away_is_no_error(unused_tcp_port: int) -> None:
    async with load_session() as session:
        sender = Sender(f"http://127.0.0.1:{unused_tcp_port}", session)
        sender.send(ASK)

        ends = await asyncio.gather(*sender._open, return_exceptions=True)

    assert ends == [None]
