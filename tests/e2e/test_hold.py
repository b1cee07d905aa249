"""Strict JSON before a real proxy: what the client gets, and what the upstream is asked."""

import asyncio
import json
from typing import Any

import pytest

from tests.fakes.gate import Gate, eventually, running_gate
from tests.fakes.upstream import End, FakeUpstream, Scripted, completion, fake_upstream, stream

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "population": {"type": "integer"}},
    "required": ["city", "population"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "city", "strict": True, "schema": SCHEMA}}
ASKED: dict[str, Any] = {
    "model": "Qwen3.6",
    "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "Ulm as JSON"}],
    "temperature": 0,
    "response_format": FORMAT,
}
STREAMED = ASKED | {"stream": True}
GOOD = '{"city":"Ulm","population":126949}'
DOUBLED = "{" + GOOD
WRONG = '{"city":"Ulm","population":"many"}'


async def _certify(gate: Gate, upstream: FakeUpstream) -> None:
    """One valid strict answer, so that the engine is warm."""
    upstream.script.insert(0, completion(GOOD))
    await gate.chat(ASKED)
    upstream.received.clear()


def _content(received: bytes) -> str:
    content: str = json.loads(received)["choices"][0]["message"]["content"]
    return content


async def test_cold_fault_repeats_the_identical_request_once_and_nobody_notices() -> None:
    async with (
        fake_upstream(completion(DOUBLED), completion(GOOD)) as upstream,
        running_gate(upstream.url) as gate,
    ):
        response, received = await gate.chat(ASKED)
        metrics = await gate.metrics()

    assert (response.status, _content(received)) == (200, GOOD)
    assert upstream.calls[0].body == upstream.calls[1].body
    assert response.headers["x-sluicegate-attempts"] == "2"
    assert response.headers["x-sluicegate-verdicts"] == "strict_json=pass, length=skip"
    assert metrics['sluicegate_attempts_total{result="valid",step="cold"}'] == 1
    assert metrics['sluicegate_engine_starts_total{first_answer="invalid",lane="main"}'] == 1
    assert metrics['sluicegate_engine_state{lane="main",state="certified"}'] == 1


async def test_warm_fault_takes_the_ladder_vary_then_reask() -> None:
    async with fake_upstream() as upstream, running_gate(upstream.url) as gate:
        await _certify(gate, upstream)
        upstream.script += [completion(DOUBLED), completion(WRONG), completion(GOOD)]
        response, received = await gate.chat(ASKED)
        first, varied, reasked = (call.json for call in upstream.calls)

    assert _content(received) == GOOD
    assert response.headers["x-sluicegate-attempts"] == "3"
    assert first == ASKED
    assert varied == ASKED | {
        "seed": varied["seed"],
        "temperature": 0.3,
        "chat_template_kwargs": {"enable_thinking": False},
    }
    assert reasked["messages"][:2] == ASKED["messages"]
    assert [turn["role"] for turn in reasked["messages"]] == ["system", "user", "assistant", "user"]
    assert "population" in reasked["messages"][3]["content"]


async def test_exhausted_ladder_is_a_typed_error_that_no_sdk_resends() -> None:
    async with (
        fake_upstream(*[completion(WRONG)] * 9) as upstream,
        running_gate(upstream.url) as gate,
    ):
        response, received = await gate.chat(ASKED)
        record = await gate.record(response)
        metrics = await gate.metrics()

    error = json.loads(received)["error"]
    assert response.status == 422
    assert response.headers["x-should-retry"] == "false"
    assert (error["type"], error["code"]) == ("gate_rejected", "schema_violation")
    assert error["param"].endswith("/population")
    assert "strict_json" in error["message"]
    assert "3 attempts" in error["message"]
    assert len(upstream.calls) == 3
    assert record["outcome"] == "rejected"
    assert metrics['sluicegate_requests_total{endpoint="chat",outcome="rejected"}'] == 1
    assert metrics['sluicegate_faults_total{fault="schema_violation"}'] == 3
    assert metrics["sluicegate_failed_attempt_tokens_total"] == 9


async def test_held_stream_is_delivered_as_recorded() -> None:
    reply = stream(['{"city":"Ulm",', '"population":126949}'])
    async with fake_upstream(reply) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(STREAMED)

    usage_hidden = [piece for piece in reply.pieces if b'"usage"' not in piece]
    assert received == b"".join(usage_hidden)
    assert response.headers["x-sluicegate-outcome"] == "passed"


async def test_faulty_stream_is_cut_at_the_faulty_byte_and_retried() -> None:
    endless = stream(["{", "{", *["x"] * 1000], pause_seconds=0.01)
    good = stream([GOOD])
    async with fake_upstream(endless, good) as upstream, running_gate(upstream.url) as gate:
        async with asyncio.timeout(5):
            response, received = await gate.chat(STREAMED)
        await upstream.calls[0].over.wait()

    assert upstream.calls[0].closed_early
    assert b'{\\"city\\"' in received
    assert received.endswith(b"data: [DONE]\n\n")
    assert response.headers["x-sluicegate-attempts"] == "2"


async def test_runaway_whitespace_is_cut_and_retried() -> None:
    runaway = stream(['{"city":', *["\n  "] * 1000], pause_seconds=0.001)
    async with (
        fake_upstream(runaway, stream([GOOD])) as upstream,
        running_gate(upstream.url) as gate,
    ):
        response, _ = await gate.chat(STREAMED)
        metrics = await gate.metrics()

    assert response.headers["x-sluicegate-attempts"] == "2"
    assert metrics['sluicegate_faults_total{fault="whitespace_runaway"}'] == 1


async def test_truncation_is_named_and_never_retried() -> None:
    cut = completion('{"city":"Ulm"', finish_reason="length")
    async with fake_upstream(cut, completion(GOOD)) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(ASKED)

    assert response.status == 422
    assert json.loads(received)["error"]["code"] == "truncated"
    assert len(upstream.calls) == 1


async def test_fence_is_unwrapped_and_counted_as_a_repair() -> None:
    fenced = completion(f"```json\n{GOOD}\n```")
    async with fake_upstream(fenced) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(ASKED)
        metrics = await gate.metrics()

    assert _content(received) == GOOD
    assert response.headers["x-sluicegate-outcome"] == "repaired"
    assert metrics['sluicegate_repairs_total{repair="unwrap_fence"}'] == 1
    assert len(upstream.calls) == 1


async def test_document_in_the_reasoning_of_a_stream_is_moved_to_content() -> None:
    async with (
        fake_upstream(stream([GOOD], key="reasoning")) as upstream,
        running_gate(upstream.url) as gate,
    ):
        response, received = await gate.chat(STREAMED)

    events = [
        json.loads(line[6:]) for line in received.split(b"\n\n") if line.startswith(b"data: {")
    ]
    pieces = [event["choices"][0]["delta"].get("content") or "" for event in events]
    assert "".join(pieces) == GOOD
    assert not any("reasoning" in event["choices"][0]["delta"] for event in events)
    assert response.headers["x-sluicegate-outcome"] == "repaired"


async def test_unusable_schema_is_refused_before_the_upstream_is_asked() -> None:
    schema = {"$ref": "http://127.0.0.1:1/secret.json"}
    asked = ASKED | {"response_format": {"type": "json_schema", "json_schema": {"schema": schema}}}
    async with fake_upstream(completion(GOOD)) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(asked)

    assert response.status == 400
    assert json.loads(received)["error"]["param"].startswith("response_format")
    assert upstream.calls == []


async def test_all_choices_are_judged() -> None:
    two = json.loads(completion(GOOD).pieces[0])
    two["choices"].append(json.loads(completion(WRONG).pieces[0])["choices"][0] | {"index": 1})
    reply = Scripted((json.dumps(two).encode(),))
    async with fake_upstream(*[reply] * 3) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(ASKED | {"n": 2})

    assert response.status == 422
    assert json.loads(received)["error"]["param"].startswith("choices[1]")


async def test_stream_broken_off_while_held_is_tried_once_more() -> None:
    broken = stream(['{"city":'], finish_reason=None, usage=None, done=False, end=End.CUT)
    async with (
        fake_upstream(broken, stream([GOOD])) as upstream,
        running_gate(upstream.url) as gate,
    ):
        response, received = await gate.chat(STREAMED)

    assert response.status == 200
    assert received.endswith(b"data: [DONE]\n\n")


async def test_observed_policy_counts_and_changes_nothing() -> None:
    reply = stream([DOUBLED], usage=None)
    settings = {"observe": True, "usage": "leave"}
    async with fake_upstream(reply) as upstream, running_gate(upstream.url, settings) as gate:
        response, received = await gate.chat(STREAMED)
        record = await gate.record(response)

    assert received == b"".join(reply.pieces)
    assert record["outcome"] == "passed"
    assert record["verdicts"][0]["result"] == "fail"
    assert record["verdicts"][0]["enforced"] is False


async def test_client_that_leaves_a_held_stream_cancels_the_upstream() -> None:
    slow = stream(['{"city":', *["\\"] * 50], pause_seconds=0.1)
    async with fake_upstream(slow) as upstream, running_gate(upstream.url) as gate:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await gate.chat(STREAMED)
        async with asyncio.timeout(2):
            await upstream.calls[0].over.wait()

    assert upstream.calls[0].closed_early
    assert len(upstream.calls) == 1


async def test_restarted_engine_is_cold_again() -> None:
    page = (
        "process_start_time_seconds {}\nvllm:request_success_total 0\n"
        "vllm:prompt_tokens_total 0\nvllm:generation_tokens_total 0\n"
    )
    async with fake_upstream() as upstream:
        upstream.pages["/metrics"] = Scripted((page.format("1.0").encode(),))
        async with running_gate(upstream.url) as gate:
            await _certify(gate, upstream)
            upstream.pages["/metrics"] = Scripted((page.format("2.0").encode(),))
            await eventually(lambda: gate.app.engine.is_cold)
            upstream.script += [completion(DOUBLED), completion(GOOD)]
            response, _ = await gate.chat(ASKED)
            record = await gate.record(response)

    assert [attempt["step"] for attempt in record["attempts"]] == ["first", "cold"]
    assert record["attempts"][0]["cold"] is True
