import asyncio
import json
from typing import Any

import pytest

from proxy.contract.attempt import Attempt
from proxy.contract.collect import collect
from proxy.contract.job import Limits
from proxy.errors import BadReply, Fault, StreamBroken, UpstreamError
from proxy.gates.strict_json import StrictJsonGate, StrictJsonOptions
from proxy.telemetry.outcome import AttemptStep
from proxy.wire.request import read_request
from tests.fakes.job import ASKED, STREAMED, job_of
from tests.fakes.lane import FakeLane, FakeReply, replying
from tests.fakes.policies import policy, rule
from tests.fakes.upstream import Scripted, chunk, completion, stream

EVENTS = "text/event-stream"


async def _collect(reply: FakeReply, limit_bytes: int = 1 << 20) -> Attempt:
    attempt = Attempt(1, AttemptStep.FIRST, began=0.0)
    limits = Limits(limit_bytes, limit_bytes)
    job = job_of(FakeLane([reply]), policy(rule()), STREAMED, limits=limits)
    await collect(job, attempt, job.call(job.body, 1, AttemptStep.FIRST))
    return attempt


async def _refused(reply: FakeReply, limit_bytes: int = 1 << 20) -> UpstreamError:
    with pytest.raises(UpstreamError) as refused:
        await _collect(reply, limit_bytes)
    assert reply.closed == 1
    return refused.value


def _two_choices(*finishes: str | None) -> list[bytes]:
    pieces = []
    for index, finish in enumerate(finishes):
        for event in (chunk({"content": str(index)}), chunk({}, finish)):
            document: dict[str, Any] = json.loads(event[6:])
            document["choices"][0]["index"] = index
            pieces.append(b"data: " + json.dumps(document).encode() + b"\n\n")
    return pieces


async def test_body_in_pieces_is_one_reply_with_its_usage() -> None:
    body = completion("Hi").pieces[0]

    attempt = await _collect(replying(Scripted((body[:9], body[9:]))))

    assert attempt.body == body
    assert attempt.reply
    assert attempt.reply.choices[0].content == "Hi"
    assert attempt.tap.completion_tokens == 3


async def test_usage_chunk_that_we_asked_for_is_not_recorded() -> None:
    attempt = await _collect(replying(stream(["a"])))

    assert all(b"usage" not in event.raw for event in attempt.events)
    assert attempt.tap.completion_tokens == 3


async def test_comments_between_events_are_recorded() -> None:
    reply = stream(["a"], usage=None)
    pieces = (b": one\n\n", *reply.pieces, b": two\n\n")

    attempt = await _collect(replying(Scripted(pieces, content_type=EVENTS)))

    assert b"".join(event.raw for event in attempt.events) == b"".join(pieces)


async def test_all_choices_of_a_stream_must_finish() -> None:
    whole = Scripted(_two_choices("stop", "stop"), content_type=EVENTS)
    half = Scripted(_two_choices("stop", None), content_type=EVENTS)

    attempt = await _collect(replying(whole))
    error = await _refused(replying(half))

    assert attempt.reply
    assert [choice.content for choice in attempt.reply.choices] == ["0", "1"]
    assert isinstance(error, StreamBroken)


async def test_connection_that_breaks_after_done_has_ended_the_stream() -> None:
    attempt = await _collect(replying(stream(["a"]), BadReply("cut")))

    assert attempt.events[-1].raw == b"data: [DONE]\n\n"


@pytest.mark.parametrize(
    ("scripted", "code"),
    [
        (Scripted((b"nonsense",)), Fault.UPSTREAM_BAD_REPLY),
        (Scripted((b'{"choices":7}',)), Fault.UPSTREAM_BAD_REPLY),
        (Scripted((b'{"error":{"message":"x"}}',)), Fault.ERROR_IN_STREAM),
        (Scripted((b"data: nonsense\n\n",), content_type=EVENTS), Fault.UPSTREAM_BAD_REPLY),
        (Scripted((b'data: {"error":"x"}\n\n',), content_type=EVENTS), Fault.ERROR_IN_STREAM),
        (Scripted((), content_type=EVENTS), Fault.STREAM_UNFINISHED),
        (Scripted((b"data: [DONE]\n\n",), content_type=EVENTS), Fault.STREAM_UNFINISHED),
    ],
    ids=["text", "choices", "error", "event", "error_event", "empty", "done_alone"],
)
async def test_what_is_no_reply_is_an_upstream_error(scripted: Scripted, code: Fault) -> None:
    assert (await _refused(replying(scripted))).code == code


@pytest.mark.parametrize(
    "scripted",
    [
        Scripted([b"x" * 60] * 2),
        Scripted([b": " + b"x" * 60 + b"\n\n"] * 2, content_type=EVENTS),
        Scripted([b"data: " + b"x" * 200], content_type=EVENTS),
    ],
    ids=["body", "stream", "event"],
)
async def test_sizes_are_bounded(scripted: Scripted) -> None:
    assert (await _refused(replying(scripted), limit_bytes=100)).code == Fault.TOO_LARGE


async def test_event_alone_is_bounded() -> None:
    attempt = Attempt(1, AttemptStep.FIRST, began=0.0)
    reply = replying(Scripted([b"data: " + b"x" * 200], content_type=EVENTS))
    job = job_of(FakeLane([reply]), policy(rule()), ASKED, limits=Limits(100, 1000))

    with pytest.raises(BadReply, match="event exceeds"):
        await collect(job, attempt, job.call(b"", 1, AttemptStep.FIRST))


async def test_refusal_of_the_upstream_is_kept_and_not_read() -> None:
    attempt = await _collect(replying(Scripted((b"<html>",), status=404)))

    assert (attempt.status, attempt.body, attempt.reply) == (404, b"<html>", None)


LISTED = json.dumps(["word"] * 10_000)
STRICT = read_request(
    json.dumps({"stream": True, "response_format": {"type": "json_object"}}).encode()
)


async def _watched(pieces: list[str], attempt: Attempt) -> None:
    """Collect a stream that arrives all at once, before the eyes of strict JSON."""
    reply = replying(Scripted([b"".join(stream(pieces).pieces)], content_type=EVENTS))
    watching = policy(rule(StrictJsonGate(StrictJsonOptions())))
    job = job_of(FakeLane([reply]), watching, STRICT)
    await collect(job, attempt, job.call(job.body, 1, AttemptStep.FIRST))


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([LISTED], id="one_long_event"),
        pytest.param(
            [LISTED[at : at + 100] for at in range(0, len(LISTED), 100)], id="many_events_at_once"
        ),
    ],
)
async def test_reading_a_long_stream_lets_others_have_their_turns(pieces: list[str]) -> None:
    attempt = Attempt(1, AttemptStep.FIRST, began=0.0)
    collecting = asyncio.create_task(_watched(pieces, attempt))
    turns = 0

    while not collecting.done():
        turns += 1
        await asyncio.sleep(0)

    assert turns > len(LISTED) / 8192
    assert attempt.reply
    assert attempt.reply.choices[0].content == LISTED


async def test_fault_within_a_long_event_is_found_at_its_place() -> None:
    attempt = Attempt(1, AttemptStep.FIRST, began=0.0)

    await _watched([LISTED + "]" + LISTED], attempt)

    assert attempt.cut
    assert attempt.judged[0].verdict.fault is Fault.TRAILING_JUNK
    assert f"(character {len(LISTED)})" in attempt.judged[0].verdict.reason
