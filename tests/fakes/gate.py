"""A real Sluicegate on real sockets, in the loop of the test, with its log at hand."""

import asyncio
import atexit
import io
import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp

from proxy.app import App, Surroundings, open_app
from proxy.contract.judge_process import JudgeProcess
from proxy.server import bind, serve
from proxy.settings import load_settings

POLICIES = Path(__file__).parents[2] / "policies"


@dataclass
class Gate:
    """A running proxy and a plain HTTP client for it."""

    url: str
    admin_url: str
    app: App
    log: io.StringIO
    http: aiohttp.ClientSession
    stop: asyncio.Event

    async def chat(
        self, body: object, headers: Mapping[str, str] | None = None
    ) -> tuple[aiohttp.ClientResponse, bytes]:
        """POST a chat request; `body` is sent as JSON, or as it is when it is bytes."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        async with self.http.post(
            f"{self.url}/v1/chat/completions",
            data=io.BytesIO(data),
            headers={"content-type": "application/json", **(headers or {})},
        ) as response:
            return response, await response.read()

    async def record(self, response: aiohttp.ClientResponse) -> Any:
        """What the admin listener tells of a request."""
        request_id = response.headers["x-request-id"]
        async with self.http.get(f"{self.admin_url}/sluicegate/requests/{request_id}") as found:
            return await found.json()

    async def metrics(self) -> dict[str, float]:
        """All samples of the metrics page, by their spelling there."""
        async with self.http.get(f"{self.admin_url}/metrics") as page:
            lines = (await page.text()).splitlines()
        samples = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        return {name: float(value) for name, value in samples}


@asynccontextmanager
async def running_gate(
    upstream_url: str,
    settings: Mapping[str, object] | None = None,
    around: Surroundings | None = None,
) -> AsyncIterator[Gate]:
    """Serve before an upstream. `settings` are dotted names; defaults suit a test."""
    flags = {
        "lanes.main.url": upstream_url,
        "policies.folder": str(POLICIES),
        "listen.port": 0,
        "admin.port": 0,
        "drain_seconds": 1,
        "engine.poll_seconds": 0.05,
        "ledger.url": "none",
        **(settings or {}),
    }
    log = io.StringIO()
    around = around or Surroundings(environ={}, log=log)
    if around.judge_process is None:
        around = replace(around, judge_process=_shared_process())
    loaded = load_settings(None, around.environ, flags)
    with _socket() as public, _socket() as admin:
        async with open_app(loaded, around) as app:
            ready, stop = asyncio.Event(), asyncio.Event()
            task = asyncio.create_task(serve(app, (public, admin), on_ready=ready.set, stop=stop))
            await ready.wait()
            async with aiohttp.ClientSession() as http:
                yield Gate(_url(public), _url(admin), app, log, http, stop)
            stop.set()
            await task


async def eventually(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait for what another thread or task brings about; fails after `seconds`."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - a condition has no event
            await asyncio.sleep(0.01)


@cache
def _shared_process() -> JudgeProcess:
    """One judging process for all proxies of a test run: each start takes half a second."""
    process = JudgeProcess()
    atexit.register(process.close)
    return process


def _socket() -> socket.socket:
    return bind("127.0.0.1", 0, "--port")


def _url(listening: socket.socket) -> str:
    return f"http://127.0.0.1:{listening.getsockname()[1]}"
