import asyncio
import io
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from proxy.app import Surroundings
from proxy.errors import SettingsError
from proxy.launch.front import Front, serving
from proxy.launch.stop_signal import StopSignal
from proxy.settings import Settings, load_settings
from tests.fakes.gate import POLICIES
from tests.fakes.upstream import FakeUpstream, Scripted, completion, fake_upstream

REQUEST = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


def settings(url: str, port: int = 0) -> Settings:
    flags = {
        "lanes.main.url": url,
        "policies.folder": str(POLICIES),
        "listen.port": port,
        "admin.port": 0,
        "drain_seconds": 60,
        "ledger.url": "none",
    }
    return load_settings(None, {}, flags)


@asynccontextmanager
async def front(stop: StopSignal, *script: Scripted) -> AsyncIterator[tuple[Front, FakeUpstream]]:
    around = Surroundings(environ={}, log=io.StringIO())
    async with fake_upstream(*script) as upstream:
        with stop.heard():
            async with serving(settings(upstream.url), stop, around) as served:
                yield served, upstream


async def ask(served: Front) -> int:
    """The status of one request."""
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{served.base_url}/chat/completions", json=REQUEST) as response,
    ):
        await response.read()
        return response.status


async def _until_asked(upstream: FakeUpstream) -> None:
    async with asyncio.timeout(20):
        while not upstream.calls:  # noqa: ASYNC110 - a socket sets no event
            await asyncio.sleep(0.01)


async def test_proxy_serves_before_the_engine_s_address() -> None:
    async with front(StopSignal(), completion("Hello")) as (served, _):
        assert await ask(served) == 200


async def test_signal_reaches_the_launcher_and_not_the_server_alone() -> None:
    stop = StopSignal()
    async with front(stop, completion("Hello")) as (served, _):
        os.kill(os.getpid(), signal.SIGTERM)
        await stop.asked.wait()

        assert not served.task.done()
        assert await ask(served) == 200


async def test_running_request_is_finished_before_the_drain_is_over() -> None:
    slow = completion("Hello")
    slow = Scripted(slow.pieces, headers=slow.headers, pause_seconds=0.3)
    async with front(StopSignal(), slow) as (served, upstream):
        asked = asyncio.create_task(ask(served))
        await _until_asked(upstream)

        await served.drain()

        assert served.task.done()
        assert await asked == 200


async def test_user_in_a_hurry_does_not_wait_for_running_requests() -> None:
    stop = StopSignal()
    slow = Scripted(completion("Hello").pieces, pause_seconds=300)
    async with front(stop, slow) as (served, upstream):
        asked = asyncio.create_task(ask(served))
        await _until_asked(upstream)
        stop.hurried.set()

        await served.drain()
        asked.cancel()
        await asyncio.wait({asked})

        assert served.task.done()


async def test_signals_after_the_drain_are_still_the_launcher_s() -> None:
    stop = StopSignal()
    async with front(stop) as (served, _):
        stop.tell()
        await served.drain()

        os.kill(os.getpid(), signal.SIGTERM)
        await stop.hurried.wait()


async def test_proxy_that_ends_asks_for_the_end_of_all() -> None:
    stop = StopSignal()
    async with front(stop) as (served, _):
        served.task.cancel()

        await stop.asked.wait()


async def test_port_that_is_taken_is_told_before_anything_serves() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        chosen = settings("http://127.0.0.1:1", taken.getsockname()[1])

        with pytest.raises(SettingsError, match="cannot listen here"):
            async with serving(chosen, StopSignal()):
                pass
