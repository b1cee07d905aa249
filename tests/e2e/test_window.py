"""Streams with tools under the window: text flows, calls wait, a bad end is an error."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.fakes.gate import running_gate
from tests.fakes.upstream import Scripted, chunk, fake_upstream, stream

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    },
    {"type": "function", "function": {"name": "switch_light"}},
]
ASKED: dict[str, Any] = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "Weather?"}],
    "tools": TOOLS,
    "stream": True,
}
LEAVE = {"usage": "leave"}
TEXT = "I will look at the weather for you now, this will only take a short moment. "


def _call(index: int, name: str, arguments: Sequence[str]) -> list[bytes]:
    head = {"index": index, "id": f"call-{index}", "type": "function"}
    first = chunk({"tool_calls": [head | {"function": {"name": name, "arguments": ""}}]})
    pieces = [
        chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        for piece in arguments
    ]
    return [first, *pieces]


def _stream(
    texts: Sequence[str] = (), calls: Sequence[bytes] = (), finish: str = "tool_calls", **more: Any
) -> Scripted:
    events = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"content": text}) for text in texts]
    events += [*calls, chunk({}, finish), b"data: [DONE]\n\n"]
    return Scripted(events, content_type="text/event-stream", **more)


GOOD = _call(0, "get_weather", ['{"city":', '"Ulm"}'])
BAD = _call(0, "get_weather", ['{"town":', '"Ulm"}'])


async def _sent(received: bytes) -> dict[str, Any]:
    events = [json.loads(part[6:]) for part in received.split(b"\n\n") if b'"choices"' in part]
    deltas = [event["choices"][0]["delta"] for event in events if event["choices"]]
    return {"text": "".join(delta.get("content") or "" for delta in deltas)}


async def test_good_reply_arrives_to_the_byte() -> None:
    reply = _stream([TEXT, "Here."], GOOD)
    async with fake_upstream(reply) as upstream, running_gate(upstream.url, LEAVE) as gate:
        response, received = await gate.chat(ASKED)
        record = await gate.record(response)

    assert received == b"".join(reply.pieces)
    assert record["outcome"] == "passed"
    assert record["verdicts"][0]["result"] == "pass"


async def test_text_flows_before_the_reply_is_over() -> None:
    reply = _stream([TEXT, "And more."], GOOD, pause_seconds=0.05)
    async with fake_upstream(reply) as upstream, running_gate(upstream.url, LEAVE) as gate:
        url = f"{gate.url}/v1/chat/completions"
        async with gate.http.post(url, json=ASKED) as response:
            first = await response.content.readany()
            is_over = upstream.calls[0].over.is_set()
            rest = await response.content.read()

    assert b"I will look" in first
    assert not is_over
    assert first + rest == b"".join(reply.pieces)


async def test_bad_beginning_is_retried_in_silence() -> None:
    bad, good = _stream(["Short. "], BAD), _stream([TEXT], GOOD)
    async with fake_upstream(bad, good) as upstream, running_gate(upstream.url, LEAVE) as gate:
        response, received = await gate.chat(ASKED)
        record = await gate.record(response)

    assert received == b"".join(good.pieces)
    assert [attempt["result"] for attempt in record["attempts"]] == ["invalid", "valid"]


async def test_bad_call_after_text_that_is_out_ends_in_an_error_without_done() -> None:
    bad = _stream([TEXT], BAD)
    async with fake_upstream(bad, bad) as upstream, running_gate(upstream.url, LEAVE) as gate:
        response, received = await gate.chat(ASKED)
        record = await gate.record(response)

    assert TEXT.encode() in received
    assert b'"arguments_violate_schema"' in received
    assert b"[DONE]" not in received
    assert b"tool_calls" not in received.split(b'{"error"')[0]
    assert b'"finish_reason":"tool_calls"' not in received
    assert (record["outcome"], record["status"]) == ("rejected", 200)
    assert len(upstream.calls) == 1


async def test_sound_call_is_out_before_the_next_one_is_complete() -> None:
    second = _call(1, "get_weather", ['{"city":', '"Bern"}'])
    reply = _stream([TEXT], [*GOOD, *second], pause_seconds=0.05)
    async with fake_upstream(reply) as upstream, running_gate(upstream.url, LEAVE) as gate:
        arrived = b""
        url = f"{gate.url}/v1/chat/completions"
        async with gate.http.post(url, json=ASKED) as response:
            while b'Ulm\\"}' not in arrived:
                arrived += await response.content.readany()
            rest = await response.content.read()

    assert b"call-1" not in arrived
    assert arrived + rest == b"".join(reply.pieces)


async def test_empty_arguments_are_repaired_behind_text_that_is_out() -> None:
    reply = _stream([TEXT], [*GOOD, *_call(1, "switch_light", [])])
    async with fake_upstream(reply) as upstream, running_gate(upstream.url, LEAVE) as gate:
        response, received = await gate.chat(ASKED)
        record = await gate.record(response)

    assert received.startswith(b"".join(reply.pieces[:2]))
    assert b'"arguments":"{}"' in received.replace(b'"arguments": "{}"', b'"arguments":"{}"')
    assert received.endswith(b"data: [DONE]\n\n")
    assert record["outcome"] == "repaired"


async def test_call_written_as_text_is_never_shown() -> None:
    markup = '\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Ulm"}}\n</tool_call>'
    pieces = [TEXT, *(markup[at : at + 5] for at in range(0, len(markup), 5))]
    reply = _stream(pieces, finish="stop")
    async with fake_upstream(reply) as upstream, running_gate(upstream.url, LEAVE) as gate:
        _, received = await gate.chat(ASKED)

    assert "<tool" not in (await _sent(received))["text"]
    assert b'"call_in_text"' in received


async def test_text_that_only_looks_like_markup_flows_on() -> None:
    pieces = [TEXT, "Compare a <", "tool", "box> with b < c ", "and so on."]
    reply = _stream(pieces, finish="stop")
    async with fake_upstream(reply) as upstream, running_gate(upstream.url, LEAVE) as gate:
        _, received = await gate.chat(ASKED)

    assert received == b"".join(reply.pieces)


async def test_reply_without_text_is_retried_whatever_its_calls_are() -> None:
    unknown = _call(0, "get_wether", ["{}"])
    good = _stream([], GOOD)
    async with (
        fake_upstream(_stream([], unknown), good) as upstream,
        running_gate(upstream.url) as gate,
    ):
        response, _ = await gate.chat(ASKED)

    assert response.headers["x-sluicegate-attempts"] == "2"


async def test_upstream_that_breaks_off_after_text_is_out_ends_in_an_error() -> None:
    cut = stream([TEXT, "more"], finish_reason=None, usage=None, done=False)
    async with fake_upstream(cut, cut) as upstream, running_gate(upstream.url, LEAVE) as gate:
        response, received = await gate.chat(ASKED)
        record = await gate.record(response)

    assert b'"stream_unfinished"' in received
    assert record["outcome"] == "upstream_failed"
    assert len(upstream.calls) == 1


async def test_client_that_leaves_a_windowed_stream_cancels_the_upstream() -> None:
    slow = _stream([TEXT] * 200, pause_seconds=0.02)
    async with fake_upstream(slow) as upstream, running_gate(upstream.url) as gate:
        async with gate.http.post(f"{gate.url}/v1/chat/completions", json=ASKED) as response:
            await response.content.readany()
            response.close()
        async with asyncio.timeout(2):
            await upstream.calls[0].over.wait()

    assert upstream.calls[0].closed_early


@pytest.mark.parametrize("n", [2, 3])
async def test_several_choices_are_held(n: int) -> None:
    reply = _stream([TEXT], GOOD)
    async with fake_upstream(reply) as upstream, running_gate(upstream.url) as gate:
        response, _ = await gate.chat(ASKED | {"n": n})

    assert response.headers["x-sluicegate-verdicts"] == "tool_calls=pass"


async def test_strict_json_beside_tools_is_held() -> None:
    reply = _stream([], GOOD)
    asked = ASKED | {"response_format": {"type": "json_object"}}
    async with fake_upstream(reply) as upstream, running_gate(upstream.url) as gate:
        response, _ = await gate.chat(asked)

    assert "tool_calls=pass" in response.headers["x-sluicegate-verdicts"]


async def test_broken_call_in_the_history_is_a_warning_in_the_look_up() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": "{"}}
    history = [{"role": "assistant", "content": None, "tool_calls": [call]}, *ASKED["messages"]]
    reply = _stream([TEXT], GOOD)
    async with fake_upstream(reply) as upstream, running_gate(upstream.url) as gate:
        response, _ = await gate.chat(ASKED | {"messages": history})
        record = await gate.record(response)

    (warning,) = record["verdicts"][0]["warnings"]
    assert warning.startswith("messages[0].tool_calls[0].function.arguments")
