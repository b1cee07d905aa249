"""The stand-in for vLLM 0.24 damages what it should, and that is what the gate finds."""

import json
from typing import Any

import aiohttp

from tests.fakes.doubling_relay import doubling_relay
from tests.fakes.gate import Gate, running_gate
from tests.fakes.upstream import completion, fake_upstream, stream

GOOD = '{"city": "Ulm"}'
PIECES = ("\n\n", '{"', "city", '": "', "Ulm", '"}')
ASKED: dict[str, Any] = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "Ulm as JSON"}],
    "response_format": {"type": "json_object"},
}


async def _faults(gate: Gate, asked: dict[str, Any]) -> tuple[bytes, list[list[str]]]:
    """What the client got, and the faults of each attempt."""
    response, received = await gate.chat(asked)
    record = await gate.record(response)
    return received, [attempt.get("faults", []) for attempt in record["attempts"]]


async def test_doubled_reply_has_leading_junk_and_the_next_one_is_sound() -> None:
    async with (
        fake_upstream(completion(GOOD), completion(GOOD)) as upstream,
        doubling_relay(upstream.url) as relay,
        running_gate(relay.url) as gate,
    ):
        relay.double([True])
        received, faults = await _faults(gate, ASKED)

    assert json.loads(received)["choices"][0]["message"]["content"] == GOOD
    assert faults == [["leading_junk"], []]


async def test_doubled_stream_has_leading_junk_and_the_next_one_is_sound() -> None:
    async with (
        fake_upstream(stream(PIECES), stream(PIECES)) as upstream,
        doubling_relay(upstream.url) as relay,
        running_gate(relay.url) as gate,
    ):
        relay.double([True])
        received, faults = await _faults(gate, ASKED | {"stream": True})

    events = [line[6:] for line in received.decode().splitlines() if line.startswith("data: {")]
    choices = [choice for event in events for choice in json.loads(event)["choices"]]
    assert "".join(choice["delta"].get("content", "") for choice in choices).strip() == GOOD
    assert faults == [["leading_junk"], []]


async def test_reply_that_is_not_to_be_doubled_is_relayed_byte_for_byte() -> None:
    scripted = stream(PIECES)
    async with (
        fake_upstream(scripted) as upstream,
        doubling_relay(upstream.url) as relay,
        aiohttp.ClientSession() as http,
    ):
        relay.double([False, True])
        async with http.post(f"{relay.url}/v1/chat/completions", json=ASKED) as response:
            received = await response.read()

    assert received == b"".join(scripted.pieces)
