import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from proxy.demo.fault import FAULT_HEADER
from proxy.demo.tour import STEPS, tour

JSON_TEXT = '{"city": "Paris", "country": "France", "capital": true}'
TOOL_CALLS = [{"id": "1", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}]


class FakeProxy:
    """Answers as the proxy would; one listener for client and admin."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.labels: list[str | None] = []
        self.tool_calls: list[dict[str, Any]] = []
        self.events: list[bytes] = [
            b'{"choices":[{"delta":{"role":"assistant","content":""}}]}',
            b'{"choices":[{"delta":{"content":"To raise "}}]}',
            b'{"choices":[{"delta":{"content":"boats."}}]}',
            b'{"choices":[],"usage":{}}',
            b"[DONE]",
        ]
        self.finish_reason = "stop"
        self.failure: tuple[int, str] | None = None

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        self.labels.append(request.headers.get(FAULT_HEADER))
        headers = {"x-request-id": f"r{len(self.bodies)}"}
        if self.failure is not None:
            status, text = self.failure
            return web.Response(status=status, text=text)
        if body.get("stream"):
            data = b"".join(b"data: " + event + b"\n\n" for event in self.events)
            return web.Response(body=data, content_type="text/event-stream", headers=headers)
        message = {"role": "assistant", "content": "A gate in a river."}
        if "response_format" in body:
            message["content"] = JSON_TEXT
        if "tools" in body and self.tool_calls:
            return web.json_response(
                {"choices": [{"message": {"content": None, "tool_calls": self.tool_calls}}]},
                headers=headers,
            )
        choice = {"message": message, "finish_reason": self.finish_reason}
        return web.json_response({"choices": [choice]}, headers=headers)

    async def record(self, request: web.Request) -> web.StreamResponse:
        document = {
            "id": request.match_info["id"],
            "received_at": 1.0,
            "endpoint": "chat",
            "outcome": "passed",
            "status": 200,
            "policy": f"production@{request.match_info['id']}",
        }
        return web.json_response(document)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self.chat)
        app.router.add_get("/sluicegate/requests/{id}", self.record)
        async with TestServer(app) as server:
            yield str(server.make_url("")).rstrip("/")


async def told(proxy: FakeProxy, *, embedded: bool = True) -> str:
    out = io.StringIO()
    async with proxy.serving() as url:
        await tour(f"{url}/v1", url, "tiny", out, embedded)
    return out.getvalue()


async def test_every_step_is_asked_answered_and_accounted_for() -> None:
    text = await told(FakeProxy())

    for number, step in enumerate(STEPS, 1):
        assert f"{number}/5  {step.title}" in text
        assert f"asked     {step.question}" in text
        assert f"policy production@r{number}" in text
    assert "answer    A gate in a river." in text
    assert f"answer    {JSON_TEXT}" in text


async def test_stream_is_printed_as_one_text() -> None:
    assert "answer    To raise boats.\n" in await told(FakeProxy())


async def test_only_the_third_request_is_labelled_for_the_fault_and_says_so() -> None:
    proxy = FakeProxy()

    text = await told(proxy)

    assert proxy.labels == [None, None, "once", None, None]
    assert text.count("INJECTED FAULT") == 1


async def test_answer_cut_at_max_tokens_says_so() -> None:
    proxy = FakeProxy()
    proxy.finish_reason = "length"

    assert "answer    A gate in a river. [max_tokens reached]" in await told(proxy)


async def test_missing_tool_call_is_told_honestly() -> None:
    proxy = FakeProxy()
    proxy.failure = 422, '{"error": {"message": "no call", "code": "missing_call"}}'

    text = await told(proxy)

    assert "answer    HTTP 422, missing_call: no call" in text
    assert "The tool call is missing" in text


async def test_tool_call_is_printed_like_a_call() -> None:
    proxy = FakeProxy()
    proxy.tool_calls = TOOL_CALLS

    text = await told(proxy)

    assert 'answer    weather({"city": "Paris"})' in text
    assert "missing" not in text


@pytest.mark.parametrize(
    ("failure", "line"),
    [
        (
            (422, '{"error": {"message": "no", "code": "not_json"}}'),
            "answer    HTTP 422, not_json: no",
        ),
        ((404, '{"detail": "Not Found"}'), 'HTTP 404, {"detail": "Not'),
        ((200, "<html>"), "error     UnreadableAnswer: not an answer"),
    ],
    ids=["gate_rejected", "other_error", "no_json"],
)
async def test_failing_step_tells_its_error_and_the_tour_goes_on(
    failure: tuple[int, str], line: str
) -> None:
    proxy = FakeProxy()
    proxy.failure = failure

    text = await told(proxy)

    assert text.count(line) == 5
    assert "5/5" in text


async def test_error_event_ends_the_stream_with_its_message() -> None:
    proxy = FakeProxy()
    proxy.events = [
        proxy.events[1],
        json.dumps({"error": {"message": "cut", "code": 502}}).encode(),
    ]

    text = await told(proxy)

    assert "answer    To raise \n  error     StreamFailed: 502: cut\n" in text


async def test_proxy_that_is_gone_fails_every_step_and_no_more(unused_tcp_port: int) -> None:
    out = io.StringIO()
    url = f"http://127.0.0.1:{unused_tcp_port}"

    await tour(f"{url}/v1", url, "tiny", out, embedded=True)

    assert out.getvalue().count("error     ClientConnectorError") == 5


async def test_reader_s_own_model_is_asked_not_to_think() -> None:
    proxy = FakeProxy()

    await told(proxy, embedded=False)

    assert {body["model"] for body in proxy.bodies} == {"tiny"}
    assert all(body["chat_template_kwargs"] == {"enable_thinking": False} for body in proxy.bodies)
