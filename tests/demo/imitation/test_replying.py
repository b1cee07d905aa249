import json
from collections import deque
from typing import Any, Final

import pytest

from proxy.demo.imitation.replying import CutOff, Replier, ServerFailed, replier
from proxy.wire.reply import read_reply
from tests.fakes.imitation import STRICT, asked, engine_start

STREAM: Final[dict[str, Any]] = {
    "stream": True,
    "stream_options": {"include_usage": True},
    "return_token_ids": True,
}


async def events(*faults: str, **members: Any) -> list[bytes]:
    reply = replier(engine_start(*faults), asked(**{**STREAM, **members}))
    pieces = [piece async for piece in reply.events()]
    return b"".join(pieces).split(b"\n\n")[:-1]


async def test_stream_is_role_tokens_finish_usage_and_done() -> None:
    *chunks, done = await events()
    documents = [json.loads(chunk.removeprefix(b"data: ")) for chunk in chunks]

    role, *tokens, finish, usage = documents
    assert role["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert finish["choices"][0]["finish_reason"] == "stop"
    assert done == b"data: [DONE]"
    listed = [len(each["choices"][0]["token_ids"]) for each in tokens]
    assert set(listed) == {1, 2}
    assert usage["usage"]["completion_tokens"] == sum(listed)


async def test_same_request_gets_the_same_answer_from_the_same_seed() -> None:
    first, again = [
        await replier(engine_start(), asked(response_format=STRICT)).whole() for _ in range(2)
    ]

    assert read_content(first) == read_content(again)


async def test_whole_reply_is_one_the_proxy_can_read() -> None:
    body = await replier(engine_start(), asked(return_token_ids=True)).whole()

    document = json.loads(body)
    assert read_reply(body).choices[0].finish_reason == "stop"
    assert len(document["choices"][0]["token_ids"]) == document["usage"]["completion_tokens"]


async def test_error_ends_a_stream_and_done_follows_all_the_same() -> None:
    *_, failure, done = await events("error_in_stream=1")

    assert json.loads(failure.removeprefix(b"data: "))["error"]["code"] == 500
    assert done == b"data: [DONE]"


async def test_cut_comes_in_the_midst() -> None:
    pieces = deque[bytes]()

    with pytest.raises(CutOff):
        await take(replier(engine_start("stream_cut=1"), asked(**STREAM)), pieces)

    assert len(pieces) > 2
    assert b"[DONE]" not in b"".join(pieces)


def test_server_error_comes_before_anything() -> None:
    with pytest.raises(ServerFailed):
        replier(engine_start("server_error=1"), asked())


async def test_limit_of_tokens_ends_the_reply() -> None:
    body = json.loads(await replier(engine_start(), asked(max_tokens=5)).whole())

    assert body["usage"]["completion_tokens"] == 5
    assert body["choices"][0]["finish_reason"] == "length"


async def take(reply: Replier, pieces: deque[bytes]) -> None:
    """Keep what comes, also before an error."""
    events = reply.events()
    while True:
        pieces.append(await anext(events))


def read_content(body: bytes) -> str:
    content: str = json.loads(body)["choices"][0]["message"]["content"]
    return content
