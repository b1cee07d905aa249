"""The ends `flag`, `fallback` and `park` of a ladder, before a real proxy."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.gate import eventually, running_gate
from tests.fakes.upstream import Scripted, completion, fake_upstream, stream

POLICY = """\
format: 1
name: soft
attempts: {{max_attempts: 2, cold: none, deliver: {deliver}}}
gates:
  strict_json:
    on_fail: [{ladder}]
    on_error: flag
    fallback_text: '{{"city":null}}'
"""
SCHEMA = {"type": "object", "properties": {"city": {"type": ["string", "null"]}}}
ASKED: dict[str, Any] = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "Which city?"}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "c", "schema": SCHEMA}},
}
STREAMED = ASKED | {"stream": True}
WITH_USAGE = STREAMED | {"stream_options": {"include_usage": True}}
WRONG = '{"city":7}'
DOUBLED = '{{"city":"Ulm"}'
FALLBACK = '{"city":null}'


def _settings(folder: Path, ladder: str, deliver: str = "last") -> dict[str, object]:
    (folder / "soft.yaml").write_text(POLICY.format(ladder=ladder, deliver=deliver))
    return {"policies.folder": str(folder), "policies.order": ["soft"]}


def _chunks(received: bytes) -> list[dict[str, Any]]:
    lines = received.decode().split("\n\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


def _text(received: bytes) -> str:
    deltas = [choice["delta"] for chunk in _chunks(received) for choice in chunk["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)


async def test_flagged_reply_is_delivered_marked_and_counted(tmp_path: Path) -> None:
    replies = completion(DOUBLED), completion(WRONG)
    settings = _settings(tmp_path, "same, flag")
    async with fake_upstream(*replies) as upstream, running_gate(upstream.url, settings) as gate:
        response, received = await gate.chat(ASKED)
        record = await gate.record(response)
        metrics = await gate.metrics()
        await eventually(lambda: '"outcome":"flagged"' in gate.log.getvalue())

    assert (response.status, received) == (200, replies[1].pieces[0])
    assert response.headers["x-sluicegate-outcome"] == "flagged"
    assert response.headers["x-sluicegate-verdicts"] == "strict_json=fail(schema_violation)"
    assert record["outcome"] == "flagged"
    assert record["verdicts"][0]["place"] == "choices[0].message.content#/city"
    assert (record["completion_tokens"], record["failed_attempt_tokens"]) == (3, 3)
    assert metrics['sluicegate_requests_total{endpoint="chat",outcome="flagged"}'] == 1


@pytest.mark.parametrize("content", [WRONG, DOUBLED], ids=["schema", "first character"])
async def test_flagged_stream_is_delivered_whole(tmp_path: Path, content: str) -> None:
    reply = stream([content[:4], content[4:]])
    settings = _settings(tmp_path, "flag")
    async with fake_upstream(reply) as upstream, running_gate(upstream.url, settings) as gate:
        response, received = await gate.chat(WITH_USAGE)

    assert received == b"".join(reply.pieces)
    assert response.headers["x-sluicegate-outcome"] == "flagged"


async def test_best_attempt_is_flagged_where_the_policy_says_so(tmp_path: Path) -> None:
    better = completion(WRONG)
    settings = _settings(tmp_path, "same, flag", deliver="best")
    async with (
        fake_upstream(better, completion(DOUBLED)) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        response, received = await gate.chat(ASKED)

    assert received == better.pieces[0]
    assert response.headers["x-sluicegate-outcome"] == "flagged"
    assert response.headers["x-sluicegate-verdicts"] == "strict_json=fail(schema_violation)"


async def test_fallback_stands_in_for_a_failed_reply(tmp_path: Path) -> None:
    settings = _settings(tmp_path, "same, fallback")
    async with (
        fake_upstream(completion(WRONG), completion(DOUBLED)) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        response, received = await gate.chat(ASKED)
        record = await gate.record(response)
        metrics = await gate.metrics()

    before, after = json.loads(completion().pieces[0]), json.loads(received)
    assert response.status == 200
    assert after.pop("choices")[0]["message"] == {"role": "assistant", "content": FALLBACK}
    assert after == {name: before[name] for name in before if name != "choices"}
    assert response.headers["x-sluicegate-outcome"] == "repaired"
    assert response.headers["x-sluicegate-verdicts"] == "strict_json=fail(leading_junk)"
    assert "repairs" not in record
    assert metrics['sluicegate_requests_total{endpoint="chat",outcome="repaired"}'] == 1


async def test_fallback_of_a_stream_has_the_usage_that_was_asked_for(tmp_path: Path) -> None:
    settings = _settings(tmp_path, "fallback")
    async with (
        fake_upstream(stream([WRONG])) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        response, received = await gate.chat(WITH_USAGE)

    chunks = _chunks(received)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert _text(received) == FALLBACK
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[:3]] == [None, None, "stop"]
    assert (chunks[3]["choices"], chunks[3]["usage"]["completion_tokens"]) == ([], 3)
    assert received.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize(
    "pieces", [["{", "{", *["x"] * 500], ["x"] * 500], ids=["early", "at the first character"]
)
async def test_fallback_follows_a_stream_that_was_cut(tmp_path: Path, pieces: list[str]) -> None:
    endless = stream(pieces, pause_seconds=0.01)
    settings = _settings(tmp_path, "fallback")
    async with fake_upstream(endless) as upstream, running_gate(upstream.url, settings) as gate:
        response, received = await gate.chat(STREAMED)
        await upstream.calls[0].over.wait()

    assert upstream.calls[0].closed_early
    assert _text(received) == FALLBACK
    assert {chunk["id"] for chunk in _chunks(received)} == {"chatcmpl-1"}
    assert not any(chunk.get("usage") for chunk in _chunks(received))
    assert received.endswith(b"data: [DONE]\n\n")
    assert response.headers["x-sluicegate-outcome"] == "repaired"


async def test_fallback_is_not_taken_for_a_failure_of_the_upstream(tmp_path: Path) -> None:
    broken = Scripted((b'{"error":{"message":"no such model"}}',), status=404)
    settings = _settings(tmp_path, "fallback")
    async with fake_upstream(broken) as upstream, running_gate(upstream.url, settings) as gate:
        response, received = await gate.chat(ASKED)

    assert (response.status, received) == (404, broken.pieces[0])


async def test_parked_reply_is_kept_back_and_counted(tmp_path: Path) -> None:
    settings = _settings(tmp_path, "same, park")
    async with (
        fake_upstream(completion(WRONG), completion(DOUBLED)) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        response, received = await gate.chat(ASKED)
        record = await gate.record(response)
        metrics = await gate.metrics()

    error = json.loads(received)["error"]
    assert response.status == 422
    assert (error["type"], error["code"]) == ("held_for_review", "held_for_review")
    assert error["review_id"].startswith("rv-")
    assert response.headers["x-should-retry"] == "false"
    assert response.headers["x-sluicegate-outcome"] == "parked"
    assert response.headers["x-sluicegate-verdicts"] == "strict_json=fail(leading_junk)"
    assert (record["outcome"], record["error_code"]) == ("parked", "held_for_review")
    assert metrics['sluicegate_requests_total{endpoint="chat",outcome="parked"}'] == 1
    assert len(upstream.calls) == 2


async def test_stream_that_will_be_parked_is_not_cut(tmp_path: Path) -> None:
    whole = stream([DOUBLED, *[" "] * 50])
    settings = _settings(tmp_path, "park")
    async with fake_upstream(whole) as upstream, running_gate(upstream.url, settings) as gate:
        response, received = await gate.chat(STREAMED)

    assert response.status == 422
    assert b"held_for_review" in received
    assert not upstream.calls[0].closed_early
