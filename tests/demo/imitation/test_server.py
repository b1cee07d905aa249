import asyncio
import socket
from contextlib import suppress

import aiohttp
import pytest

from proxy.errors import SettingsError
from tests.fakes.imitation import chat, imitating, samples

STREAM = chat("A text of 2000 words.", stream=True)


async def start_of(http: aiohttp.ClientSession, url: str) -> tuple[float, float]:
    """When the engine was started, and the tokens it has worked on; waits while it is away."""
    while True:
        try:
            async with http.get(f"{url}/metrics") as response:
                found = samples(await response.text())
                return found["process_start_time_seconds"], found["vllm:prompt_tokens_total"]
        except aiohttp.ClientError:
            await asyncio.sleep(0)


async def ask_on(http: aiohttp.ClientSession, url: str) -> None:
    """Ask until there is no answer."""
    while True:
        with suppress(aiohttp.ServerDisconnectedError):
            async with http.get(f"{url}/health") as response:
                await response.read()


async def test_restart_cuts_streams_and_counts_from_zero() -> None:
    async with imitating() as imitation, aiohttp.ClientSession() as http:
        async with http.post(f"{imitation.url}/v1/chat/completions", json=STREAM) as response:
            await response.content.readany()
            before, work = await start_of(http, imitation.url)
            imitation.restart()
            with pytest.raises(aiohttp.ClientError):
                await response.read()
        while (after := await start_of(http, imitation.url))[0] == before:
            pass

    assert work > 0
    assert after[0] > before
    assert after[1] == 0
    assert imitation.starts == 2


async def test_while_it_is_away_connections_are_refused() -> None:
    async with imitating(speed=1.0) as imitation, aiohttp.ClientSession() as http:
        imitation.restart()
        with pytest.raises(aiohttp.ClientConnectorError):
            await ask_on(http, imitation.url)


async def test_restarts_that_were_ordered_come_by_themselves() -> None:
    async with (
        imitating(restart_seconds=0.1, speed=50.0) as imitation,
        aiohttp.ClientSession() as http,
    ):
        starts = set[float]()
        while len(starts) < 2:
            starts.add((await start_of(http, imitation.url))[0])

    assert imitation.starts >= 2


async def test_its_port_is_free_when_it_has_ended() -> None:
    async with imitating() as imitation:
        port = int(imitation.url.rpartition(":")[2])

    with socket.create_server(("127.0.0.1", port)):
        pass


async def test_taken_port_names_the_flag() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingsError, match="--imitation-port"):
            async with imitating(port=port):
                pass
