import asyncio
from collections import Counter

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from proxy.demo.load.load import LoadOptions, run_load
from proxy.demo.run import RunningProxy

PAGE = 'sluicegate_requests_total{endpoint="chat",outcome="passed"} 7.0\n'
OPTIONS = LoadOptions("imitation-mtp1", rate=1.0, speed=200.0)


class Gate:
    """Counts requests by path and answers each at once; its metrics may be broken."""

    def __init__(self, page: str) -> None:
        self.seen: Counter[str] = Counter()
        self.app = web.Application()
        self.app.router.add_post("/v1/{path:.*}", self._answer)
        self.app.router.add_get("/metrics", self._metrics)
        self._page = page

    async def _answer(self, request: web.Request) -> web.Response:
        self.seen[request.path] += 1
        return web.Response()

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(text=self._page)


async def first_line(gate: Gate) -> str:
    """The first line that a load on this gate tells."""
    lines: asyncio.Queue[str] = asyncio.Queue()
    async with TestServer(gate.app) as server:
        url = str(server.make_url("")).rstrip("/")
        proxy = RunningProxy(f"{url}/v1", url, asyncio.Event().wait)
        task = asyncio.create_task(run_load(proxy, OPTIONS, lines.put_nowait))
        line = await lines.get()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    return line


async def test_load_sends_a_mix_with_bursts_and_tells_what_happened() -> None:
    gate = Gate(PAGE)

    line = await first_line(gate)

    assert line == "7 requests: 7 passed"
    assert gate.seen["/v1/chat/completions"] > 20
    assert gate.seen["/v1/completions"] > 0


async def test_metrics_that_cannot_be_read_are_told_and_do_not_end_it() -> None:
    assert (await first_line(Gate("nonsense x\n"))).startswith("the metrics cannot be read")
