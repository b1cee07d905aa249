import io
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from proxy.contract.probe_settings import ProbeSettings
from proxy.data_files import recipes_folder
from proxy.demo.fault import FAULT_HEADER, FaultyLane
from proxy.demo.production_proxy import ProductionProxy, demo_settings
from proxy.recipes.reading import read_recipe
from proxy.server import bound
from proxy.settings import Lane

STRICT_JSON = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "Describe Paris."}],
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "city", "strict": True, "schema": {"type": "object"}},
    },
}


@asynccontextmanager
async def engine() -> AsyncIterator[str]:
    async def chat(_: web.Request) -> web.Response:
        message = {"role": "assistant", "content": '{"city": "Paris"}'}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response({"choices": [choice]})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", chat)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


async def test_injected_fault_is_healed_by_the_cold_retry() -> None:
    settings = demo_settings(0, 0)
    with bound(settings) as sockets:
        start = ProductionProxy(settings, sockets, io.StringIO())
        async with (
            engine() as url,
            start(url, FaultyLane) as proxy,
            aiohttp.ClientSession(headers={FAULT_HEADER: "once"}) as session,
            session.post(f"{proxy.base_url}/chat/completions", json=STRICT_JSON) as response,
        ):
            answer = await response.json()

    assert answer["choices"][0]["message"]["content"] == '{"city": "Paris"}'
    assert response.headers["x-sluicegate-attempts"] == "2"


async def test_lane_is_as_it_was_said_to_be() -> None:
    settings = demo_settings(0, 0)
    recipe = next(recipes_folder().glob("*-mtp2.yaml"))

    def lane(url: str) -> Lane:
        return Lane(url=url, recipe=recipe, probe=ProbeSettings(attempts=1))

    with bound(settings) as sockets:
        start = ProductionProxy(settings, sockets, io.StringIO(), lane)
        async with (
            engine() as url,
            start(url, FaultyLane) as proxy,
            aiohttp.ClientSession() as session,
            session.get(f"{proxy.admin_url}/ready") as response,
        ):
            shown = (await response.json())["lanes"]["main"]

    assert shown["recipe"]["name"] == read_recipe(recipe).name
    assert shown["probe"] is not None


async def test_told_to_stop_it_says_so_and_frees_its_ports() -> None:
    settings = demo_settings(0, 0)
    with bound(settings) as sockets:
        start = ProductionProxy(settings, sockets, io.StringIO())
        async with engine() as url, start(url, FaultyLane) as proxy:
            signal.raise_signal(signal.SIGINT)
            await proxy.stopped()

    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectorError):
            await session.get(f"{proxy.admin_url}/health")
