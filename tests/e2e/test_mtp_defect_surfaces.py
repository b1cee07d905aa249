"""The strict-JSON defect of real vLLM under MTP, before a real proxy: no client gets to see it."""

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest

from tests.fakes.gate import Gate, running_gate
from tests.fakes.mtp_defect import (
    CUTS,
    Recording,
    as_mtp_sends,
    bad,
    good,
    good_like,
    one_bad_of_each_family,
    streamed,
)
from tests.fakes.upstream import FakeUpstream, Scripted, fake_upstream

PLACE: Final = "choices[0].message.content"
TOOL: Final = {"type": "function", "function": {"name": "look_up"}}
POLICY: Final = """\
format: 1
name: defect
attempts: {{max_attempts: 2, cold: none}}
stream: {{mode: {mode}}}
gates:
  strict_json:
    on_fail: [same, reject]
    mode: {enforcement}
    repair: [unwrap_fence, drop_think_tag, json_from_reasoning]
  tool_calls: {{stream: window}}
"""


def _settings(folder: Path, mode: str = "auto", enforcement: str = "enforce") -> dict[str, object]:
    (folder / "defect.yaml").write_text(POLICY.format(mode=mode, enforcement=enforcement))
    return {"policies.folder": str(folder), "policies.order": ["defect"], "usage": "leave"}


def _json(one: Recording) -> Scripted:
    return Scripted((one.raw,))


def _stream(one: Recording, cut: str = "two-tokens-a-chunk") -> Scripted:
    return streamed(one, CUTS[cut](one), joined=cut == "two-tokens-a-chunk")


def _bytes(scripted: Scripted) -> bytes:
    return b"".join(scripted.pieces)


async def _asked_in_turn(
    gate: Gate, upstream: FakeUpstream, body: dict[str, Any], *replies: Scripted
) -> tuple[aiohttp.ClientResponse, bytes, list[bytes]]:
    """One request with the replies that wait for it; also the bodies that the upstream got.

    Each on a connection of its own: the second reply of one is slowed down by delayed ACKs.
    """
    upstream.received.clear()
    upstream.script[:] = replies
    response, received = await gate.chat(body, {"connection": "close"})
    return response, received, [call.body for call in upstream.calls]


async def test_identical_retry_replaces_a_bad_reply(tmp_path: Path) -> None:
    found: dict[str, Any] = {}
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        for name, one in bad().items():
            replies = _json(one), _json(good_like(one))
            response, received, asked = await _asked_in_turn(gate, upstream, one.asked, *replies)
            is_good = received == good_like(one).raw
            found[name] = response.status, is_good, len(asked), len(set(asked))

    assert found == dict.fromkeys(bad(), (200, True, 2, 1))


@pytest.mark.parametrize(
    ("members", "recordings"),
    [
        pytest.param({}, bad(), id="alone"),
        pytest.param({"tools": [TOOL]}, one_bad_of_each_family(), id="beside-tools"),
    ],
)
async def test_bad_stream_is_replaced_before_the_client_sees_any_of_it(
    members: dict[str, Any], recordings: dict[str, Recording], tmp_path: Path
) -> None:
    """Tools alone would be windowed; beside them the stream is held whole, and not cut early."""
    found: dict[tuple[str, str], Any] = {}
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        for (name, one), cut in product(recordings.items(), CUTS):
            good_stream = _stream(good_like(one), cut)
            body = one.asked | members | {"stream": True}
            response, received, asked = await _asked_in_turn(
                gate, upstream, body, _stream(one, cut), good_stream
            )
            is_good = received == _bytes(good_stream)
            found[name, cut] = response.status, is_good, len(asked), len(set(asked))

    assert found == dict.fromkeys(product(recordings, CUTS), (200, True, 2, 1))


@pytest.mark.parametrize("is_stream", [False, True], ids=["json", "stream"])
async def test_answers_that_stay_bad_are_refused_with_code_and_place(
    is_stream: bool, tmp_path: Path
) -> None:
    found: dict[str, Any] = {}
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url, _settings(tmp_path)) as gate,
    ):
        for name, one in bad().items():
            reply = _stream(one) if is_stream else _json(one)
            body = one.asked | {"stream": is_stream}
            response, received, asked = await _asked_in_turn(gate, upstream, body, reply, reply)
            error = json.loads(received)["error"]
            told = error["type"], error["code"], error["param"]
            found[name] = response.status, told, len(asked)

    refused = (422, ("gate_rejected", "leading_junk", PLACE), 2)
    assert found == dict.fromkeys(bad(), refused)


async def test_stream_that_is_passed_on_ends_in_an_error_instead_of_done(tmp_path: Path) -> None:
    found: dict[str, Any] = {}
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url, _settings(tmp_path, mode="pass")) as gate,
    ):
        for family, one in one_bad_of_each_family().items():
            body = one.asked | {"stream": True}
            response, received, _ = await _asked_in_turn(gate, upstream, body, _stream(one))
            record = await gate.record(response)
            found[family] = b'"leading_junk"' in received, b"[DONE]" in received, record["outcome"]

    assert found == dict.fromkeys(one_bad_of_each_family(), (True, False, "rejected"))


@pytest.mark.parametrize("is_stream", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize("members", [{}, {"tools": [TOOL]}], ids=["alone", "beside-tools"])
async def test_observed_gate_counts_the_defect_and_changes_no_byte(
    members: dict[str, Any], is_stream: bool, tmp_path: Path
) -> None:
    """A stream beside tools goes through the window of `tool_calls`, which is enforced."""
    found: dict[str, Any] = {}
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url, _settings(tmp_path, enforcement="observe")) as gate,
    ):
        for family, one in one_bad_of_each_family().items():
            reply = _stream(one) if is_stream else _json(one)
            body = one.asked | members | {"stream": is_stream}
            response, received, asked = await _asked_in_turn(gate, upstream, body, reply)
            record = await gate.record(response)
            verdict = next(each for each in record["verdicts"] if each["gate"] == "strict_json")
            seen = verdict["fault"], verdict["enforced"], record["outcome"]
            found[family] = received == _bytes(reply), len(asked), seen

    observed = (True, 1, ("leading_junk", False, "passed"))
    assert found == dict.fromkeys(one_bad_of_each_family(), observed)


@pytest.mark.parametrize(
    ("mode", "members"),
    [
        pytest.param("auto", {}, id="held"),
        pytest.param("auto", {"tools": [TOOL]}, id="held-beside-tools"),
        pytest.param("pass", {}, id="passed"),
    ],
)
async def test_good_answers_arrive_to_the_byte_at_the_first_attempt(
    mode: str, members: dict[str, Any], tmp_path: Path
) -> None:
    found: dict[tuple[str, bool], Any] = {}
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url, _settings(tmp_path, mode=mode)) as gate,
    ):
        for (name, one), is_stream in product(good().items(), (False, True)):
            reply = _stream(one) if is_stream else _json(one)
            body = one.asked | members | {"stream": is_stream}
            _, received, asked = await _asked_in_turn(gate, upstream, body, reply)
            found[name, is_stream] = received == _bytes(reply), len(asked)
        metrics = await gate.metrics()

    assert found == dict.fromkeys(product(good(), (False, True)), (True, 1))
    assert sum(value for name, value in metrics.items() if "faults_total{" in name) == 0


@pytest.mark.parametrize(
    "one",
    [pytest.param(one, id=name) for name, one in bad().items() if one.first_after_load],
)
async def test_first_answer_after_load_is_a_sample_and_the_identical_retry_cures_it(
    one: Recording,
) -> None:
    async with (
        fake_upstream(_json(one), _json(good_like(one))) as upstream,
        running_gate(upstream.url) as gate,
    ):
        response, received = await gate.chat(one.asked)
        record = await gate.record(response)
        metrics = await gate.metrics()

    assert received == good_like(one).raw
    assert upstream.calls[0].body == upstream.calls[1].body
    assert [attempt["step"] for attempt in record["attempts"]] == ["first", "cold"]
    assert record["attempts"][0]["faults"] == ["leading_junk"]
    assert metrics['sluicegate_engine_starts_total{first_answer="invalid",lane="main"}'] == 1


async def _attempts_of(one: Recording, body: dict[str, Any], *, cold: bool) -> list[dict[str, Any]]:
    """What the upstream is asked until the third answer is good; warm: until the second."""
    replies = [_json(one)] * (2 if cold else 1) + [_json(good_like(one))]
    async with fake_upstream() as upstream, running_gate(upstream.url) as gate:
        if not cold:
            await _asked_in_turn(gate, upstream, one.asked, _json(good_like(one)))
        response, received, asked = await _asked_in_turn(gate, upstream, body, *replies)

    assert (response.status, received) == (200, good_like(one).raw)
    return [json.loads(attempt) for attempt in asked]


@pytest.mark.parametrize("cold", [True, False], ids=["cold-third", "warm-second"])
async def test_vary_turns_thinking_off_for_a_client_that_did_not_choose(cold: bool) -> None:
    one = next(iter(bad().values()))
    body = {name: value for name, value in one.asked.items() if name != "chat_template_kwargs"}

    *first, varied = await _attempts_of(one, body, cold=cold)

    assert first == [body] * (2 if cold else 1)
    assert varied["chat_template_kwargs"] == {"enable_thinking": False}
    assert varied["temperature"] == 0.3
    assert "seed" in varied


@pytest.mark.parametrize("cold", [True, False], ids=["cold-third", "warm-second"])
async def test_vary_leaves_thinking_to_a_client_that_chose_it(cold: bool) -> None:
    one = next(iter(bad().values()))

    *first, varied = await _attempts_of(one, one.asked, cold=cold)

    assert first == [one.asked] * (2 if cold else 1)
    assert varied["chat_template_kwargs"] == {"enable_thinking": True}
    assert "seed" in varied


def _completion(one: Recording) -> Scripted:
    choice = {"index": 0, "text": one.content, "logprobs": None, "finish_reason": "stop"}
    return Scripted((json.dumps({"object": "text_completion", "choices": [choice]}).encode(),))


def _completion_stream(one: Recording) -> Scripted:
    choices: list[dict[str, Any]] = [
        {"index": 0, "text": piece, "finish_reason": None} for piece in as_mtp_sends(one)
    ]
    choices[-1]["finish_reason"] = "stop"
    events = [json.dumps({"object": "text_completion", "choices": [choice]}) for choice in choices]
    lines = [f"data: {event}\n\n".encode() for event in [*events, "[DONE]"]]
    return Scripted(lines, content_type="text/event-stream")


def _response(one: Recording) -> Scripted:
    part = {"type": "output_text", "text": one.content, "annotations": []}
    message = {"type": "message", "role": "assistant", "content": [part]}
    return Scripted((json.dumps({"object": "response", "output": [message]}).encode(),))


def _message(one: Recording) -> Scripted:
    part = {"type": "text", "text": one.content}
    return Scripted((json.dumps({"type": "message", "content": [part]}).encode(),))


@pytest.mark.parametrize(
    ("path", "answer", "members"),
    [
        pytest.param("/v1/completions", _completion, {"prompt": "Berlin"}, id="completions"),
        pytest.param(
            "/v1/completions",
            _completion_stream,
            {"prompt": "Berlin", "stream": True},
            id="completions-stream",
        ),
        pytest.param("/v1/responses", _response, {"input": "Berlin"}, id="responses"),
        pytest.param("/v1/messages", _message, {"max_tokens": 99}, id="messages"),
    ],
)
async def test_surfaces_that_no_gate_covers_are_relayed_and_counted_as_unchecked(
    path: str, answer: Callable[[Recording], Scripted], members: dict[str, Any]
) -> None:
    one = next(iter(bad().values()))
    body, reply = one.asked | members, answer(one)
    async with (
        fake_upstream(reply) as upstream,
        running_gate(upstream.url, {"usage": "leave"}) as gate,
    ):
        async with gate.http.post(gate.url + path, json=body) as response:
            received = await response.read()
        metrics = await gate.metrics()

    assert (response.status, received) == (200, _bytes(reply))
    assert metrics['sluicegate_unchecked_total{reason="surface"}'] == 1
    assert metrics['sluicegate_verdicts_total{gate="strict_json",result="fail"}'] == 0
