"""What the page is served from: its files, the dashboards, a relay to Prometheus on loopback."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp
from aiohttp import web

FOLDER: Final = Path(__file__).parent
DASHBOARDS: Final = FOLDER.parent / "dashboards"
BUILT: Final = FOLDER / "dist"
# Queries of annotations belong to no panel; panels have ids from 1.
MARKS: Final = 0
_ICONS: Final = FOLDER / "node_modules" / "@grafana" / "ui" / "dist" / "public"
_QUESTIONS: Final = frozenset({"query", "query_range"})


class Relay:
    """Passes queries on to Prometheus, and counts the series that came back for each panel."""

    def __init__(self, prometheus_url: str, http: aiohttp.ClientSession) -> None:
        self._url = prometheus_url.rstrip("/")
        self._http = http
        self.series: Counter[int] = Counter()

    async def answer(self, request: web.Request) -> web.Response:
        panel, question = int(request.match_info["panel"]), request.match_info["question"]
        if question not in _QUESTIONS:
            raise web.HTTPNotFound
        asked = {name: str(value) for name, value in (await request.post()).items()}
        async with self._http.post(f"{self._url}/api/v1/{question}", data=asked) as response:
            body = await response.read()
            status = response.status
        self.series[panel] += _series(body)
        return web.Response(body=body, status=status, content_type="application/json")


@asynccontextmanager
async def site(prometheus_url: str) -> AsyncIterator[tuple[str, Relay]]:
    """Serve on a free port of loopback; gives the address and the relay that counts."""
    async with aiohttp.ClientSession() as http:
        relay = Relay(prometheus_url, http)
        runner = web.AppRunner(_app(relay))
        await runner.setup()
        try:
            listener = web.TCPSite(runner, "127.0.0.1", 0)
            await listener.start()
            port = runner.addresses[0][1]
            yield f"http://127.0.0.1:{port}", relay
        finally:
            await runner.cleanup()


def _app(relay: Relay) -> web.Application:
    app = web.Application()
    app.router.add_get("/", _page)
    app.router.add_static("/assets", BUILT / "assets")
    app.router.add_static("/public/build", _ICONS)
    app.router.add_static("/dashboards", DASHBOARDS)
    app.router.add_post(r"/prometheus/{panel:\d+}/{question}", relay.answer)
    return app


async def _page(_: web.Request) -> web.FileResponse:
    return web.FileResponse(BUILT / "index.html")


def _series(body: bytes) -> int:
    answer: Any = json.loads(body)
    return len(answer["data"]["result"]) if answer["status"] == "success" else 0
