"""Recorded replies of a real small model, damaged at random: no damage gets past the gate.

What a reply is worth is decided here by the standard library and by plain jsonschema.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from proxy.gates.base import Repair, Result
from proxy.gates.strict_json import StrictJsonGate, StrictJsonOptions
from proxy.wire.reply import Choice, MalformedReply, Reply, ReplyBuilder, read_reply
from proxy.wire.request import Request
from proxy.wire.sse import SseParser
from tests.fuzz.independent import read_sse, read_strict

RECORDED = Path(__file__).parents[1] / "recorded"
GATE = StrictJsonGate(StrictJsonOptions())
LENIENT_GATE = StrictJsonGate(
    StrictJsonOptions(repair=(Repair.UNWRAP_FENCE, Repair.DROP_THINK_TAG))
)
REPEATS_A_KEY = '"vegetable": "Cherry"'  # the engine's grammar let one such answer through
LONGEST_DAMAGE = 6


@dataclass(frozen=True, slots=True)
class Recording:
    """A reply as its engine sent it, its content read by the standard library, and its schema."""

    schema: dict[str, Any]
    raw: bytes
    content: str

    @property
    def request(self) -> Request:
        wanted = {"type": "json_schema", "json_schema": {"schema": self.schema}}
        return Request(b"{}", response_format=json.dumps(wanted).encode())


def content_of_body(raw: bytes) -> str:
    return str(json.loads(raw)["choices"][0]["message"]["content"])


def content_of_stream(raw: bytes) -> str:
    """The content of all chunks; one whose damage hides it adds nothing, as for any client."""
    chunks = [json.loads(data) for _, data, *_ in read_sse(raw) if data not in (None, b"[DONE]")]
    choices = [choice for chunk in chunks for choice in chunk.get("choices", ())]
    return "".join(choice.get("delta", {}).get("content") or "" for choice in choices)


def recordings(name: str, content_of: Callable[[bytes], str]) -> list[Recording]:
    lines = (RECORDED / name).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    raws = [row["reply"].encode() for row in rows]
    return [
        Recording(row["schema"], raw, content_of(raw)) for row, raw in zip(rows, raws, strict=True)
    ]


BODIES = recordings("strict_bodies.jsonl", content_of_body)
STREAMS = recordings("strict_streams.jsonl", content_of_stream)

Damage = Callable[[Any, Any, int, int], Any]
DAMAGES: dict[str, Damage] = {
    "flip": lambda text, other, begin, _: text[:begin] + other[:1] + text[begin + 1 :],
    "delete": lambda text, _, begin, end: text[:begin] + text[end:],
    "duplicate": lambda text, _, begin, end: text[:end] + text[begin:end] + text[end:],
    "insert": lambda text, other, begin, _: text[:begin] + other + text[begin:],
    "swap": lambda text, _, begin, end: text[:begin] + text[begin:end][::-1] + text[end:],
    "truncate": lambda text, _, begin, __: text[:begin],
}
PIECES = st.text('{}[]":,\\/u0d89e.-+ \n\ttrN\ud83d\x00é', min_size=1, max_size=3)


@st.composite
def damaged(draw: st.DrawFn, sound: Any, pieces: st.SearchStrategy[Any]) -> Any:
    text = sound
    for kind in draw(st.lists(st.sampled_from(sorted(DAMAGES)), min_size=1, max_size=3)):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.integers(1, LONGEST_DAMAGE)))
        text = DAMAGES[kind](text, draw(pieces), begin, end)
    return text


def assembled(raw: bytes) -> Reply:
    parser, builder = SseParser(1 << 20), ReplyBuilder()
    for found in [*parser.feed(raw), *parser.finish()]:
        if found.data not in (None, b"[DONE]"):
            builder.add(found.data or b"")
    return builder.reply()


def is_worth_a_pass(content: str, schema: dict[str, Any]) -> bool:
    try:
        document = read_strict(content)
    except ValueError:
        return False
    return bool(Draft202012Validator(schema).is_valid(document))


def passes(content: str, recording: Recording, gate: StrictJsonGate = GATE) -> bool:
    reply = Reply((Choice(0, content, finish_reason="stop"),))
    return gate.judge(reply, recording.request).result is Result.PASS


@pytest.mark.parametrize("recording", BODIES)
def test_recorded_body_passes_unless_it_repeats_a_key(recording: Recording) -> None:
    reply = read_reply(recording.raw)
    keeps_keys = REPEATS_A_KEY not in recording.content

    verdict = GATE.judge(reply, recording.request)

    assert reply.choices[0].content == recording.content
    assert is_worth_a_pass(recording.content, recording.schema) == keeps_keys
    assert (verdict.result is Result.PASS) == keeps_keys


@pytest.mark.parametrize("recording", STREAMS)
def test_recorded_stream_passes_while_it_runs_and_as_a_whole(recording: Recording) -> None:
    watch = GATE.watch(recording.request)
    assert watch is not None
    parser, builder = SseParser(1 << 20), ReplyBuilder()

    alarms = [
        watch.feed(*piece)
        for found in parser.feed(recording.raw)
        if found.data not in (None, b"[DONE]")
        for piece in builder.add(found.data or b"").contents
    ]

    assert alarms == [None] * len(alarms)
    assert len(alarms) > 0
    assert builder.reply().choices[0].content == recording.content
    assert GATE.judge(builder.reply(), recording.request).result is Result.PASS


@given(recording=st.sampled_from(BODIES + STREAMS), data=st.data())
@settings(max_examples=400)
def test_damaged_content_passes_only_when_it_is_still_sound(
    recording: Recording, data: st.DataObject
) -> None:
    content = data.draw(damaged(recording.content, PIECES))

    assert passes(content, recording) == is_worth_a_pass(content, recording.schema)


@given(recording=st.sampled_from(BODIES + STREAMS), data=st.data())
@settings(max_examples=200)
def test_repaired_content_is_sound(recording: Recording, data: st.DataObject) -> None:
    wrapped = f"<think>Hm.</think>\n```json\n{recording.content}\n```"
    content = data.draw(damaged(wrapped, PIECES))
    reply = Reply((Choice(0, content, finish_reason="stop"),))

    verdict = LENIENT_GATE.judge(reply, recording.request)

    if verdict.result is Result.PASS:
        delivered = verdict.repaired[0].content if verdict.repaired else content
        assert is_worth_a_pass(delivered or "", recording.schema)


@given(recording=st.sampled_from(BODIES + STREAMS), data=st.data())
@settings(max_examples=200)
def test_alarm_on_a_running_stream_is_never_false(
    recording: Recording, data: st.DataObject
) -> None:
    content = data.draw(damaged(recording.content, PIECES))
    cut = data.draw(st.integers(0, len(content)))
    watch = GATE.watch(recording.request)
    assert watch is not None

    alarms = [watch.feed(0, content[:cut]), watch.feed(0, content[cut:])]

    assert alarms == [None, None] or not is_worth_a_pass(content, recording.schema)


@pytest.mark.parametrize(
    ("recorded", "read", "content_of"),
    [(BODIES, read_reply, content_of_body), (STREAMS, assembled, content_of_stream)],
    ids=["bodies", "streams"],
)
@given(data=st.data())
@settings(max_examples=200)
def test_damaged_bytes_never_pass_as_what_they_are_not(
    recorded: Sequence[Recording],
    read: Callable[[bytes], Reply],
    content_of: Callable[[bytes], str],
    data: st.DataObject,
) -> None:
    recording = data.draw(st.sampled_from(recorded))
    raw = data.draw(damaged(recording.raw, st.binary(min_size=1, max_size=3)))
    try:
        reply = read(raw)
    except MalformedReply:
        return

    verdict = GATE.judge(reply, recording.request)

    if verdict.result is Result.PASS:
        assert is_worth_a_pass(content_of(raw), recording.schema)
