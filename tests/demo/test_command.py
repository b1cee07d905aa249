import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from proxy.demo.command import show
from proxy.demo.production_proxy import demo_settings
from proxy.errors import SettingsError
from proxy.server import bind

CONTENT = '{"city": "Paris", "country": "France", "capital": true}'


@asynccontextmanager
async def engine() -> AsyncIterator[str]:
    """Answers everything with the same JSON, streams in one event."""

    async def chat(request: web.Request) -> web.Response:
        message = {"role": "assistant", "content": CONTENT}
        if not (await request.json()).get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            return web.json_response({"choices": [choice]})
        choice = {"index": 0, "delta": message, "finish_reason": "stop"}
        events = f"data: {json.dumps({'choices': [choice]})}\n\ndata: [DONE]\n\n"
        return web.Response(text=events, content_type="text/event-stream")

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "tiny"}]})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_get("/v1/models", models)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


async def test_tour_goes_through_the_real_proxy() -> None:
    out = io.StringIO()

    async with engine() as url:
        await show(demo_settings(0, 0), url, out, io.StringIO(), once=True)

    text = out.getvalue()
    assert text.count(CONTENT) == 4
    assert text.count("error") == 1
    assert "error missing_call" in text
    assert text.count("policy production@") == 5
    assert "attempt 1 first (engine cold), invalid: not_json" in text
    assert "attempt 2 cold (engine cold), valid" in text


async def test_taken_port_names_the_flag_before_anything_starts() -> None:
    out = io.StringIO()

    with bind("127.0.0.1", 0, "--port") as taken:
        port: int = taken.getsockname()[1]
        with pytest.raises(SettingsError, match=f"127.0.0.1:{port}.*--port"):
            await show(demo_settings(port, 0), "", out, io.StringIO())

    assert out.getvalue() == ""
