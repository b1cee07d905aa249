import asyncio
import io
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from typing_extensions import override

from proxy.demo.fault import FaultyLane
from proxy.demo.run import RunningProxy, UnusableUpstream, run_demo, served_model
from proxy.upstream.lane import Lane


@pytest.mark.slow
async def test_embedded_engine_serves_the_tour(unused_tcp_port: int) -> None:
    start = FakeStart(f"http://127.0.0.1:{unused_tcp_port}")
    out = io.StringIO()

    await run_demo(start, out, once=True)

    assert out.getvalue().startswith("Starting the embedded model SmolLM2-135M-Instruct")
    assert start.upstreams[0].startswith("http://127.0.0.1:")
    assert start.left


@asynccontextmanager
async def models_server(text: str, status: int = 200) -> AsyncIterator[str]:
    async def models(_: web.Request) -> web.Response:
        return web.Response(text=text, status=status, content_type="application/json")

    app = web.Application()
    app.router.add_get("/v1/models", models)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


@dataclass
class FakeStart:
    """Starts nothing: the tour meets closed doors, which it survives."""

    url: str
    upstreams: list[str] = field(default_factory=list)
    wraps: list[Callable[[Lane], Lane]] = field(default_factory=list)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    left: bool = False

    @asynccontextmanager
    async def __call__(
        self, upstream_url: str, wrap: Callable[[Lane], Lane]
    ) -> AsyncIterator[RunningProxy]:
        self.upstreams.append(upstream_url)
        self.wraps.append(wrap)
        try:
            yield RunningProxy(f"{self.url}/v1", f"{self.url}0", self.stop.wait)
        finally:
            self.left = True


class Told(io.StringIO):
    """Sets an event once a text was printed."""

    def __init__(self, awaited: str) -> None:
        super().__init__()
        self._awaited = awaited
        self.seen = asyncio.Event()

    @override
    def write(self, text: str) -> int:
        count = super().write(text)
        if self._awaited in self.getvalue():
            self.seen.set()
        return count


async def test_own_server_s_first_model_is_used() -> None:
    async with models_server('{"data": [{"id": "qwen", "x": 1}, {"id": "other"}]}') as url:
        assert await served_model(url) == "qwen"


@pytest.mark.parametrize(
    ("status", "text"),
    [(401, "{}"), (200, '{"data": []}'), (200, "<html>"), (200, '{"data": [{}]}')],
    ids=["closed", "no_model", "no_json", "nameless"],
)
async def test_server_that_names_no_model_is_refused(status: int, text: str) -> None:
    async with models_server(text, status) as url:
        with pytest.raises(UnusableUpstream, match="/v1/models names no model: "):
            await served_model(url)


async def test_absent_server_is_refused(unused_tcp_port: int) -> None:
    with pytest.raises(UnusableUpstream, match="Cannot connect"):
        await served_model(f"http://127.0.0.1:{unused_tcp_port}")


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
async def test_address_may_be_written_as_an_sdk_would(ending: str, unused_tcp_port: int) -> None:
    start = FakeStart(f"http://127.0.0.1:{unused_tcp_port}")
    start.stop.set()

    async with models_server('{"data": [{"id": "qwen"}]}') as url:
        await run_demo(start, io.StringIO(), url.removeprefix("http://") + ending)

    assert start.upstreams == [url]
    assert start.wraps == [FaultyLane]


async def test_addresses_are_printed_after_the_tour(unused_tcp_port: int) -> None:
    start = FakeStart(f"http://127.0.0.1:{unused_tcp_port}")
    out = Told("curl -s")

    async with models_server('{"data": [{"id": "it\'s"}]}') as url:
        task = asyncio.create_task(run_demo(start, out, url))
        await out.seen.wait()
        start.stop.set()
        await task

    text = out.getvalue()
    assert text.index("5/5") < text.index("Serving.")
    assert f"base_url  {start.url}/v1\n" in text
    for path in ("/metrics", "/health", "/ready", "/sluicegate/requests/{x-request-id}"):
        assert f"{start.url}0{path}\n" in text
    assert """-d '{"model": "it'"'"'s", "messages":""" in text


async def test_stop_of_the_proxy_ends_the_tour(unused_tcp_port: int) -> None:
    start = FakeStart(f"http://127.0.0.1:{unused_tcp_port}")
    start.stop.set()

    async with models_server('{"data": [{"id": "qwen"}]}') as url:
        await run_demo(start, io.StringIO(), url)

    assert start.left


async def test_one_tour_ends_by_itself(unused_tcp_port: int) -> None:
    start = FakeStart(f"http://127.0.0.1:{unused_tcp_port}")
    out = io.StringIO()

    async with models_server('{"data": [{"id": "qwen"}]}') as url:
        await run_demo(start, out, url, once=True)

    assert "5/5" in out.getvalue()
    assert "Serving." not in out.getvalue()


async def test_cancelled_demo_leaves_the_proxy(unused_tcp_port: int) -> None:
    start = FakeStart(f"http://127.0.0.1:{unused_tcp_port}")
    out = Told("1/5")

    async with models_server('{"data": [{"id": "qwen"}]}') as url:
        task = asyncio.create_task(run_demo(start, out, url))
        await out.seen.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert start.left
