import json
from collections.abc import Sequence
from typing import Any

import pytest

from proxy.wire.fallback import Head, body_with_text, events_with_text
from proxy.wire.reply import Reply, ReplyBuilder, Usage, read_reply
from proxy.wire.sse import DONE, Event, SseParser
from tests.fakes.upstream import Scripted, chunk, completion, stream

HEAD = Head("chatcmpl-r-1", 1_780_000_000, "tiny-2")
TEXT = 'Nothing to say: "ü"\n{}'
USAGE_EVENT = (
    b'data: {"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3}}\n\n'
)


def _events(scripted: Scripted) -> list[Event]:
    return SseParser(1 << 20).feed(b"".join(scripted.pieces))


def _documents(events: Sequence[bytes]) -> list[dict[str, Any]]:
    read = SseParser(1 << 20).feed(b"".join(events))
    return [json.loads(item.data or b"") for item in read[:-1]]


def _reply(events: Sequence[bytes]) -> Reply:
    builder = ReplyBuilder()
    for document in _documents(events):
        builder.add(json.dumps(document).encode())
    return builder.reply()


def _body(message: dict[str, Any] | None = None) -> bytes:
    return completion("bad", finish_reason="tool_calls", message=message).pieces[0]


def test_text_replaces_all_that_a_choice_said() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    before = _body({"tool_calls": [call], "reasoning": "hm", "refusal": "no"})

    (choice,) = read_reply(body_with_text(before, HEAD, TEXT, [0])).choices

    assert (choice.content, choice.finish_reason) == (TEXT, "stop")
    assert (choice.tool_calls, choice.reasoning, choice.refusal) == ((), "", "")


def test_body_keeps_what_it_says_of_itself() -> None:
    before = json.loads(_body()) | {"system_fingerprint": "x", "prompt_logprobs": [1]}

    after = json.loads(body_with_text(json.dumps(before).encode(), HEAD, TEXT, [0]))

    kept = {name: before[name] for name in before if name not in ("choices", "prompt_logprobs")}
    assert {name: value for name, value in after.items() if name != "choices"} == kept
    assert after["choices"][0]["logprobs"] is None


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]"], ids=["none", "no json", "no object"])
def test_body_that_is_missing_is_made_from_the_head(body: bytes) -> None:
    made = json.loads(body_with_text(body, HEAD, TEXT, [0, 1]))

    assert made | {"choices": []} == {
        "id": "chatcmpl-r-1",
        "object": "chat.completion",
        "created": 1_780_000_000,
        "model": "tiny-2",
        "choices": [],
    }
    assert [choice["index"] for choice in made["choices"]] == [0, 1]


def test_stream_has_role_text_finish_usage_and_done() -> None:
    said = events_with_text(_events(stream(["ba", "d"])), HEAD, TEXT, [0])

    documents = _documents(said)
    assert [document["choices"] for document in documents] == [
        [
            {
                "index": 0,
                "delta": {"role": "assistant", "content": ""},
                "logprobs": None,
                "finish_reason": None,
            }
        ],
        [{"index": 0, "delta": {"content": TEXT}, "logprobs": None, "finish_reason": None}],
        [{"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"}],
        [],
    ]
    assert {document["id"] for document in documents} == {"chatcmpl-1"}
    assert {document["created"] for document in documents} == {1_770_000_000}
    assert said[-1] == DONE
    assert _reply(said).usage == Usage(9, 3)


def test_usage_that_the_client_does_not_see_is_not_added() -> None:
    said = events_with_text(_events(stream(["bad"], usage=None)), HEAD, TEXT, [0])

    assert len(said) == 4
    assert _reply(said).usage is None


def test_usage_in_the_finish_stays_there() -> None:
    finish = json.loads(chunk({}, "stop")[6:]) | {"usage": {"completion_tokens": 3}}
    pieces = [chunk({"content": "bad"}), b"data: " + json.dumps(finish).encode() + b"\n\n"]

    documents = _documents(events_with_text(_events(Scripted(pieces)), HEAD, TEXT, [0]))

    assert [document.get("usage") for document in documents] == [
        None,
        None,
        {"completion_tokens": 3},
    ]


def test_every_choice_says_the_text() -> None:
    said = events_with_text(_events(stream(["bad"])), HEAD, TEXT, [0, 2])

    assert [(choice.index, choice.content) for choice in _reply(said).choices] == [
        (0, TEXT),
        (2, TEXT),
    ]


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([], id="nothing"),
        pytest.param([b": comment\n\n", b"data: cut\n\n", b"data: {}\n\n"], id="nothing readable"),
        pytest.param([b'data: {"choices":null}\n\n'], id="no choices"),
    ],
)
def test_stream_without_a_chunk_is_made_from_the_head(pieces: Sequence[bytes]) -> None:
    said = events_with_text(_events(Scripted(pieces)), HEAD, TEXT, [0])

    first = _documents(said)[0]
    assert (first["id"], first["object"]) == ("chatcmpl-r-1", "chat.completion.chunk")
    assert (first["created"], first["model"]) == (1_780_000_000, "tiny-2")
    assert _reply(said).choices[0].content == TEXT


def test_vendor_members_of_the_first_chunk_are_kept_but_not_its_tokens() -> None:
    first = json.loads(chunk({"role": "assistant"})[6:])
    first |= {"prompt_token_ids": [1, 2], "system_fingerprint": "x", "usage": None}
    pieces = [b"data: " + json.dumps(first).encode() + b"\n\n", USAGE_EVENT]

    documents = _documents(events_with_text(_events(Scripted(pieces)), HEAD, TEXT, [0]))

    assert all(document["system_fingerprint"] == "x" for document in documents)
    assert not any("prompt_token_ids" in document for document in documents)
    assert documents[-1]["usage"] == {"prompt_tokens": 9, "completion_tokens": 3}
