import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from proxy.launch.engine_view import EngineView
from proxy.telemetry.engine_start import StartSource
from tests.engines.server import free_port
from tests.fakes.launch import COLD_METRICS


@asynccontextmanager
async def engine(**pages: web.Response) -> AsyncIterator[str]:
    """A server with these pages, by their last word."""

    async def answer(request: web.Request) -> web.Response:
        page = pages.get(request.path.rpartition("/")[2])
        return page or web.Response(status=404)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
async def test_health_is_the_status_of_its_page(status: int, healthy: bool) -> None:
    async with engine(health=web.Response(status=status)) as url, EngineView(url) as view:
        assert await view.is_healthy() == healthy


async def test_engine_that_does_not_listen_is_not_healthy() -> None:
    async with EngineView(f"http://127.0.0.1:{free_port()}") as view:
        assert not await view.is_healthy()
        assert await view.start_record() is None


async def test_start_is_told_as_a_proxy_tells_it() -> None:
    pages = {
        "metrics": web.Response(text=COLD_METRICS),
        "version": web.json_response({"version": "0.32.0"}),
        "models": web.json_response({"data": [{"id": "tiny", "max_model_len": 2048}]}),
    }
    async with (
        engine(**pages) as url,
        EngineView(url, unix=lambda: 1796010800.0) as view,
    ):
        record = await view.start_record()

    assert record is not None
    assert (record.lane, record.key, record.told_by) == (
        "main",
        "1796010799.6",
        StartSource.METRICS,
    )
    assert record.untouched
    assert record.ready_seconds == pytest.approx(0.4)
    assert record.facts["vllm"] == "0.32.0"
    assert record.facts["max_model_len"] == "2048"
    assert record.facts["speculative"] == "False"


async def test_page_without_a_start_time_tells_no_start() -> None:
    async with (
        engine(metrics=web.Response(text="vllm:request_success_total 0\n")) as url,
        EngineView(url) as view,
    ):
        assert await view.start_record() is None


async def test_endless_page_is_read_no_further_than_a_page_may_be_long() -> None:
    line = b"# " + b"x" * 65000 + b"\n"

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(line)
            await asyncio.sleep(0)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()

    async with EngineView(f"http://127.0.0.1:{port}") as view:
        record = await view.start_record()
    await runner.cleanup()

    assert record is None
