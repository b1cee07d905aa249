"""The official client against the gate: only its base_url is changed."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest

from tests.fakes.gate import running_gate
from tests.fakes.upstream import FakeUpstream, Scripted, completion, fake_upstream, stream

GOOD = '{"ok":true}'
SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
FORMAT: Any = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}
MESSAGES: Any = [{"role": "user", "content": "Hi"}]


@asynccontextmanager
async def _client(*script: Scripted) -> AsyncIterator[tuple[openai.AsyncOpenAI, FakeUpstream]]:
    async with (
        fake_upstream(*script) as upstream,
        running_gate(upstream.url) as gate,
        openai.AsyncOpenAI(base_url=f"{gate.url}/v1", api_key="none") as client,
    ):
        yield client, upstream


async def test_chat() -> None:
    async with _client(completion("Hello.")) as (client, _):
        reply = await client.chat.completions.create(model="tiny", messages=MESSAGES)

    assert reply.choices[0].message.content == "Hello."
    assert reply.usage
    assert reply.usage.completion_tokens == 3


async def test_stream() -> None:
    async with _client(stream(["Hel", "lo."])) as (client, _):
        chunks = await client.chat.completions.create(
            model="tiny",
            messages=MESSAGES,
            stream=True,
        )
        pieces = [chunk.choices[0].delta.content or "" async for chunk in chunks]

    assert "".join(pieces) == "Hello."


async def test_strict_json_after_a_silent_cold_retry() -> None:
    async with _client(stream(["{", GOOD]), stream([GOOD])) as (client, upstream):
        chunks = await client.chat.completions.create(
            model="tiny",
            messages=MESSAGES,
            stream=True,
            response_format=FORMAT,
        )
        pieces = [chunk.choices[0].delta.content or "" async for chunk in chunks]

    assert json.loads("".join(pieces)) == {"ok": True}
    assert len(upstream.calls) == 2


async def test_gate_s_refusal_is_a_typed_error_and_is_not_resent_by_the_client() -> None:
    async with _client(*[completion("[]")] * 9) as (client, upstream):
        with pytest.raises(openai.UnprocessableEntityError) as refused:
            await client.chat.completions.create(
                model="tiny",
                messages=MESSAGES,
                response_format=FORMAT,
            )

    assert refused.value.code == "schema_violation"
    assert refused.value.type == "gate_rejected"
    assert len(upstream.calls) == 3


async def test_upstream_failure_is_not_resent_by_the_client() -> None:
    fault = Scripted((b'{"error":{"message":"x"}}',), status=500)
    async with _client(*[fault] * 9) as (client, upstream):
        with pytest.raises(openai.InternalServerError):
            await client.chat.completions.create(model="tiny", messages=MESSAGES)

    assert len(upstream.calls) == 2


async def test_error_event_in_a_stream_raises_in_the_client() -> None:
    broken = stream(["a"], finish_reason=None, usage=None, done=False)
    async with _client(broken) as (client, _):
        chunks = await client.chat.completions.create(
            model="tiny",
            messages=MESSAGES,
            stream=True,
        )
        with pytest.raises(openai.APIError) as raised:
            [chunk async for chunk in chunks]

    assert raised.value.code == "stream_unfinished"
