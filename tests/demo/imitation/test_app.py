import io
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import openai
import pytest
from jsonschema import Draft202012Validator

from tests.fakes.imitation import CITY, STRICT, TOOL, chat, imitating, samples

MODEL = "imitation-mtp1"
QUESTION: Any = [{"role": "user", "content": "A text of 12 words."}]
PATH = "/v1/chat/completions"


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


def client(url: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)


async def test_official_client_reads_a_stream() -> None:
    async with imitating() as imitation, client(imitation.url) as api:
        stream = await api.chat.completions.create(
            model=MODEL, messages=QUESTION, stream=True, stream_options={"include_usage": True}
        )
        chunks = [chunk async for chunk in stream]

    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert len(text.split()) >= 12
    assert chunks[-1].usage is not None
    assert {chunk.system_fingerprint for chunk in chunks} == {MODEL}


async def test_official_client_gets_strict_json() -> None:
    async with imitating() as imitation, client(imitation.url) as api:
        reply = await api.chat.completions.create(
            model=MODEL,
            messages=QUESTION,
            response_format=STRICT,  # type: ignore[call-overload]
        )

    assert Draft202012Validator(CITY).is_valid(json.loads(reply.choices[0].message.content))


@pytest.mark.parametrize("stream", [False, True])
async def test_official_client_gets_a_tool_call(*, stream: bool) -> None:
    async with imitating() as imitation, client(imitation.url) as api:
        if stream:
            async with api.chat.completions.stream(
                model=MODEL,
                messages=QUESTION,
                tools=[TOOL],  # type: ignore[list-item]
            ) as events:
                reply: Any = await events.get_final_completion()
        else:
            reply = await api.chat.completions.create(
                model=MODEL,
                messages=QUESTION,
                tools=[TOOL],  # type: ignore[list-item]
            )

    call = reply.choices[0].message.tool_calls[0]
    assert call.function.name == "weather"
    assert Draft202012Validator(CITY).is_valid(json.loads(call.function.arguments))


async def test_official_client_gets_a_completion_and_the_models() -> None:
    async with imitating() as imitation, client(imitation.url) as api:
        reply = await api.completions.create(
            model=MODEL, prompt="A text of 12 words.", max_tokens=6
        )
        models = await api.models.list()

    assert reply.usage is not None
    assert reply.usage.completion_tokens == 6
    assert [model.id for model in models.data] == [MODEL]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (PATH, b"{", 400),
        (PATH, json.dumps(chat(model="qwen")).encode(), 404),
        (PATH, b"x" * (5 << 20), 413),
        ("/tokenize", b"{}", 400),
        ("/v1/load_lora_adapter", b"{}", 404),
    ],
    ids=["no json", "model", "size", "tokenize", "path"],
)
async def test_wrong_request_gets_an_error_body(
    http: aiohttp.ClientSession, path: str, body: bytes, status: int
) -> None:
    async with (
        imitating() as imitation,
        http.post(imitation.url + path, data=io.BytesIO(body)) as response,
    ):
        document = await response.json()

    assert response.status == status
    assert "error" in document or document == {"detail": "Not Found"}


async def test_too_large_request_is_told_the_imitation_s_own_limit(
    http: aiohttp.ClientSession,
) -> None:
    async with (
        imitating() as imitation,
        http.post(imitation.url + PATH, data=io.BytesIO(b"x" * (5 << 20))) as response,
    ):
        document = await response.json()

    message = document["error"]["message"]
    assert "4194304 bytes" in message
    assert "limits." not in message


async def test_pages_say_that_it_is_an_imitation(http: aiohttp.ClientSession) -> None:
    async with imitating() as imitation:
        pages = {}
        for path in ("/health", "/version", "/v1/models", "/metrics"):
            async with http.get(imitation.url + path) as response:
                assert (response.status, response.headers["server"]) == (200, MODEL)
                pages[path] = await response.text()

    assert "imitation" in pages["/version"]
    assert "imitation" in pages["/metrics"]


async def test_tokens_are_counted_as_replies_count_them(http: aiohttp.ClientSession) -> None:
    async with (
        imitating() as imitation,
        http.post(f"{imitation.url}/tokenize", json={"prompt": "A lock."}) as response,
    ):
        document = await response.json()

    assert document["count"] == len(document["tokens"]) == 3


async def test_server_error_is_a_500(http: aiohttp.ClientSession) -> None:
    async with (
        imitating("server_error=1") as imitation,
        http.post(imitation.url + PATH, json=chat()) as response,
    ):
        assert response.status == 500


async def test_cut_stream_breaks_the_connection(http: aiohttp.ClientSession) -> None:
    async with (
        imitating("stream_cut=1") as imitation,
        http.post(imitation.url + PATH, json=chat(stream=True)) as response,
    ):
        with pytest.raises(aiohttp.ClientError):
            await response.read()


async def test_client_that_leaves_gives_its_seat_back(http: aiohttp.ClientSession) -> None:
    long = chat("A text of 2000 words.", stream=True)
    async with imitating(speed=1.0) as imitation:
        async with http.post(imitation.url + PATH, json=long) as response:
            await response.content.readany()
            assert await running(http, imitation.url) == 1
            response.close()

        while await running(http, imitation.url):
            pass


async def running(http: aiohttp.ClientSession, url: str) -> float:
    async with http.get(f"{url}/metrics") as response:
        return samples(await response.text())["vllm:num_requests_running"]
