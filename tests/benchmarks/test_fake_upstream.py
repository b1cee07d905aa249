"""The fake upstream, started as its command and asked by a real HTTP client."""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import contents
import jsonschema
import pytest
from asks import SCHEMA, Ask, chat_request

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
CHAT = "/v1/chat/completions"
PLAIN: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
STRICT: dict[str, Any] = {**PLAIN, "response_format": {"type": "json_schema"}}


@pytest.fixture
async def address() -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(BENCHMARKS / "fake_upstream.py"),
        "--port",
        "0",
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        yield (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.communicate()


@pytest.fixture
async def client(address: str) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(address) as session:
        yield session


async def events_of(
    client: aiohttp.ClientSession, body: dict[str, Any], headers: dict[str, str] | None = None
) -> list[dict[str, Any]]:
    async with client.post(CHAT, json=body, headers=headers) as reply:
        text = await reply.text()
    assert reply.status == 200
    assert reply.content_type == "text/event-stream"
    *events, done, rest = text.split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    return [json.loads(event.removeprefix("data: ")) for event in events]


def of_ask(ask: Ask, events: int = 0) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(chat_request(ask, stream=False, stream_events=events))
    return body


def contents_of(events: list[dict[str, Any]]) -> list[str]:
    return [choice["delta"]["content"] for event in events for choice in event["choices"]]


async def test_plain_request_gets_a_completion_of_about_two_kilobytes_with_usage(
    client: aiohttp.ClientSession,
) -> None:
    async with client.post(CHAT, json=PLAIN) as reply:
        body = await reply.read()

    completion = json.loads(body)
    assert 1800 < len(body) < 2400
    assert completion["choices"][0]["message"]["content"] == contents.TEXT
    assert completion["usage"]["completion_tokens"] > 0


async def test_strict_request_gets_a_document_that_fits_the_loads_schema(
    client: aiohttp.ClientSession,
) -> None:
    async with client.post(CHAT, json=STRICT) as reply:
        completion = await reply.json()

    document = json.loads(completion["choices"][0]["message"]["content"])
    jsonschema.validate(document, SCHEMA)


async def test_strict_request_gets_as_many_items_as_it_names(
    client: aiohttp.ClientSession,
) -> None:
    asked = {**STRICT, "messages": [{"role": "user", "content": "Hi document-items=500"}]}

    async with client.post(CHAT, json=asked) as reply:
        completion = await reply.json()
    _, *tokens, _ = await events_of(client, {**asked, "stream": True})

    content = completion["choices"][0]["message"]["content"]
    assert len(json.loads(content)["checks"]) == 500
    assert "".join(contents_of(tokens)) == content


@pytest.mark.parametrize(
    ("body", "content"),
    [
        pytest.param(PLAIN, contents.TEXT, id="plain"),
        pytest.param(STRICT, contents.DOCUMENT, id="strict"),
    ],
)
async def test_stream_is_role_then_128_tokens_then_finish_then_usage(
    client: aiohttp.ClientSession, body: dict[str, Any], content: str
) -> None:
    asked = {**body, "stream": True, "stream_options": {"include_usage": True}}

    role, *tokens, finish, usage = await events_of(client, asked)

    assert role["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert len(tokens) == 128
    assert "".join(contents_of(tokens)) == content
    assert finish["choices"][0]["finish_reason"] == "stop"
    assert usage["choices"] == []
    assert usage["usage"]["completion_tokens"] == 128


async def test_stream_has_no_usage_event_unless_asked_for(client: aiohttp.ClientSession) -> None:
    events = await events_of(client, {**PLAIN, "stream": True})

    assert all(event["choices"] for event in events)


async def test_max_tokens_cuts_a_stream(client: aiohttp.ClientSession) -> None:
    _, *tokens, finish = await events_of(client, {**PLAIN, "stream": True, "max_tokens": 3})

    assert len(tokens) == 3
    assert finish["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize(
    ("prompt", "headers"),
    [
        pytest.param("Hi", {"x-pace-ms": "1"}, id="by_header"),
        pytest.param("Hi pace-ms=1", {}, id="by_prompt"),
    ],
)
async def test_tokens_of_a_paced_stream_tell_when_they_were_sent_and_the_request_arrived(
    client: aiohttp.ClientSession, prompt: str, headers: dict[str, str]
) -> None:
    body = {"messages": [{"role": "user", "content": prompt}], "stream": True, "max_tokens": 3}

    _, *tokens, _ = await events_of(client, body, headers)

    stamps = [re.fullmatch(r"@(\d+),(\d+);", content) for content in contents_of(tokens)]
    sent = [int(stamp[1]) for stamp in stamps if stamp]
    arrived = {int(stamp[2]) for stamp in stamps if stamp}
    assert len(sent) == 3
    assert sent == sorted(sent)
    assert len(arrived) == 1
    assert arrived.pop() < sent[0]


async def test_required_tool_gets_a_call_whose_arguments_fit_its_parameters(
    client: aiohttp.ClientSession,
) -> None:
    asked = of_ask(Ask.CALL)

    async with client.post(CHAT, json=asked) as reply:
        choice = (await reply.json())["choices"][0]
    _, begin, *tokens, finish = await events_of(client, {**asked, "stream": True})

    (call,) = choice["message"]["tool_calls"]
    (opened,) = begin["choices"][0]["delta"]["tool_calls"]
    deltas = [event["choices"][0]["delta"]["tool_calls"][0] for event in tokens]
    jsonschema.validate(json.loads(call["function"]["arguments"]), SCHEMA)
    assert (
        "".join(delta["function"]["arguments"] for delta in deltas)
        == (call["function"]["arguments"])
    )
    assert opened["function"]["name"] == call["function"]["name"] == contents.TOOL
    assert choice["finish_reason"] == finish["choices"][0]["finish_reason"] == "tool_calls"


async def test_offered_tools_are_answered_in_text(client: aiohttp.ClientSession) -> None:
    async with client.post(CHAT, json=of_ask(Ask.OFFERED)) as reply:
        completion = await reply.json()

    assert completion["choices"][0]["message"]["content"] == contents.TEXT


async def test_document_is_withheld_where_prose_is_asked_for(client: aiohttp.ClientSession) -> None:
    async with client.post(CHAT, json=of_ask(Ask.PROSE)) as reply:
        completion = await reply.json()

    assert completion["choices"][0]["message"]["content"] == contents.TEXT


@pytest.mark.parametrize("ask", [Ask.PLAIN, Ask.STRICT])
async def test_stream_has_as_many_token_events_as_it_names(
    client: aiohttp.ClientSession, ask: Ask
) -> None:
    asked = {**of_ask(ask, 300), "stream": True}

    _, *tokens, finish = await events_of(client, asked)

    assert len(tokens) == 300
    assert finish["choices"][0]["finish_reason"] == "stop"


async def test_body_that_arrives_in_pieces_is_one_request(client: aiohttp.ClientSession) -> None:
    body = json.dumps(STRICT).encode()

    async def pieces() -> AsyncIterator[bytes]:
        for offset in range(0, len(body), 5):
            yield body[offset : offset + 5]
            await asyncio.sleep(0)

    headers = {"content-length": str(len(body)), "content-type": "application/json"}
    async with client.post(CHAT, data=pieces(), headers=headers) as reply:
        completion = await reply.json()

    assert completion["choices"][0]["message"]["content"] == contents.DOCUMENT


async def test_body_without_a_length_is_refused(client: aiohttp.ClientSession) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"{}"

    async with client.post(CHAT, data=pieces()) as reply:
        assert reply.status == 411


async def test_requests_sent_ahead_are_answered_in_order_on_one_connection(address: str) -> None:
    place = urlsplit(address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    stream = json.dumps({**PLAIN, "stream": True, "max_tokens": 1}).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(stream)}\r\n\r\n".encode()

    writer.write(head + stream + b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    answers = await reader.read()

    writer.close()
    await writer.wait_closed()
    _, _, after_the_stream = answers.partition(b"[DONE]\n\n\r\n0\r\n\r\n")
    assert after_the_stream.startswith(b"HTTP/1.1 200 OK\r\n")


async def test_metrics_count_requests_and_tokens(client: aiohttp.ClientSession) -> None:
    await events_of(client, {**PLAIN, "stream": True, "max_tokens": 3})

    async with client.get("/metrics") as reply:
        page = await reply.text()

    values = {
        line.partition("{")[0].partition(" ")[0]: float(line.rpartition(" ")[2])
        for line in page.splitlines()
        if not line.startswith("#")
    }
    assert values["process_start_time_seconds"] > 0
    assert values["vllm:request_success_total"] == 1
    assert values["vllm:prompt_tokens_total"] == contents.PROMPT_TOKENS
    assert values["vllm:generation_tokens_total"] == 3


@pytest.mark.parametrize(
    ("path", "status"),
    [("/health", 200), ("/v1/models", 200), ("/v2", 404)],
    ids=["health", "models", "unknown"],
)
async def test_other_paths(client: aiohttp.ClientSession, path: str, status: int) -> None:
    async with client.get(path) as reply:
        assert reply.status == status
