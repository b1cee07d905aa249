import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from proxy.demo.fault import FAULT_HEADER, FaultyLane
from proxy.demo.production_proxy import ProductionProxy, demo
from proxy.errors import SettingsError
from proxy.server import bind, bound

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

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "tiny"}]})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_get("/v1/models", models)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


async def test_injected_fault_is_healed_by_the_cold_retry() -> None:
    with bound("127.0.0.1", 0, "127.0.0.1", 0) as sockets:
        start = ProductionProxy(sockets, io.StringIO())
        async with (
            engine() as url,
            start(url, FaultyLane) as proxy,
            aiohttp.ClientSession(headers={FAULT_HEADER: "once"}) as session,
            session.post(f"{proxy.base_url}/chat/completions", json=STRICT_JSON) as response,
        ):
            answer = await response.json()

    assert answer["choices"][0]["message"]["content"] == '{"city": "Paris"}'
    assert response.headers["x-sluicegate-attempts"] == "2"


async def test_tour_goes_through_the_real_proxy() -> None:
    out = io.StringIO()

    async with engine() as url:
        await demo(out, port=0, admin_port=0, upstream_url=url, once=True)

    text = out.getvalue()
    assert text.count("error") == 0
    assert text.count("policy production@") == 5
    assert "attempt 1 first (engine cold), invalid: not_json" in text
    assert "attempt 2 cold (engine cold), valid" in text


async def test_taken_port_names_the_flag_before_anything_starts() -> None:
    out = io.StringIO()

    with bind("127.0.0.1", 0, "--port") as taken:
        port: int = taken.getsockname()[1]
        with pytest.raises(SettingsError, match=f"127.0.0.1:{port}.*--port"):
            await demo(out, port=port, admin_port=0)

    assert out.getvalue() == ""
