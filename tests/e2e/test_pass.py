"""Requests that no gate holds: bytes go through as they came."""

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from tests.fakes.gate import running_gate
from tests.fakes.upstream import End, Scripted, chunk, completion, fake_upstream, stream

ASKED: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}]}
STREAMED = ASKED | {"stream": True}
LEAVE = {"usage": "leave"}


def _joined(scripted: Scripted) -> bytes:
    return b"".join(scripted.pieces)


async def test_reply_and_request_go_through_to_the_byte() -> None:
    body = b'{ "model":"tiny",\n"messages":[],"x_vendor":1.0e+2,"structured_outputs":null }'
    reply = completion(message={"reasoning": "r", "x_vendor": [1]})
    async with fake_upstream(reply) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(body)

    assert response.status == 200
    assert received == _joined(reply)
    assert upstream.calls[0].body == body


async def test_stream_with_usage_left_is_byte_identical() -> None:
    reply = stream(["Grüße ", "👋"], usage=None)
    async with fake_upstream(reply) as upstream, running_gate(upstream.url, LEAVE) as gate:
        response, received = await gate.chat(STREAMED)

    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert received == _joined(reply)
    assert upstream.calls[0].json == STREAMED


@pytest.mark.parametrize("size", [1, 7, 4096])
async def test_stream_cut_anywhere_on_the_way_is_byte_identical(size: int) -> None:
    whole = _joined(stream(["Köln ", "\u2028", "x"], usage=None)).replace(b"\n\n", b"\r\n\r\n")
    pieces = [whole[start : start + size] for start in range(0, len(whole), size)]
    reply = Scripted(pieces, content_type="text/event-stream")
    async with fake_upstream(reply) as upstream, running_gate(upstream.url, LEAVE) as gate:
        _, received = await gate.chat(STREAMED)

    assert received == whole


async def test_usage_is_asked_for_and_hidden_from_a_client_that_did_not_ask() -> None:
    async with fake_upstream(stream(["a"])) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(STREAMED)
        record = await gate.record(response)

    assert upstream.calls[0].json["stream_options"] == {"include_usage": True}
    assert b"usage" not in received
    assert received.endswith(b"data: [DONE]\n\n")
    assert (record["prompt_tokens"], record["completion_tokens"]) == (9, 3)


async def test_usage_reaches_a_client_that_asked() -> None:
    asked = STREAMED | {"stream_options": {"include_usage": True}}
    reply = stream(["a"])
    async with fake_upstream(reply) as upstream, running_gate(upstream.url) as gate:
        _, received = await gate.chat(asked)

    assert received == _joined(reply)
    assert upstream.calls[0].json == asked


async def test_other_stream_options_survive_the_wish_for_usage() -> None:
    asked = STREAMED | {"stream_options": {"include_usage": False, "continuous_usage_stats": True}}
    async with fake_upstream(stream(["a"])) as upstream, running_gate(upstream.url) as gate:
        await gate.chat(asked)

    options = {"include_usage": True, "continuous_usage_stats": True}
    assert upstream.calls[0].json["stream_options"] == options


async def test_events_are_handed_on_one_by_one_as_they_come() -> None:
    reply = stream(["a", "b", "c"], pause_seconds=0.02, usage=None)
    arrived: list[bytes] = []
    async with fake_upstream(reply) as upstream, running_gate(upstream.url, LEAVE) as gate:
        url = f"{gate.url}/v1/chat/completions"
        async with gate.http.post(url, json=STREAMED) as response:
            arrived.extend([piece async for piece in response.content.iter_any()])

    assert arrived == list(reply.pieces)


async def test_hop_headers_stay_and_others_go_through_both_ways() -> None:
    reply = completion()
    sent = {"x-custom": "1", "connection": "x-secret", "x-secret": "2", "te": "trailers"}
    answered = Scripted(reply.pieces, headers=[("x-vllm", "3"), ("keep-alive", "timeout=5")])
    async with fake_upstream(answered) as upstream, running_gate(upstream.url) as gate:
        response, _ = await gate.chat(ASKED, sent | {"authorization": "Bearer theirs"})

    arrived = upstream.calls[0].headers
    assert arrived["x-custom"] == "1"
    assert arrived["authorization"] == "Bearer theirs"
    assert arrived["accept-encoding"] == "identity"
    assert not {"x-secret", "te"} & set(arrived)
    assert response.headers["x-vllm"] == "3"
    assert "keep-alive" not in response.headers


async def test_request_id_of_the_client_goes_up_and_comes_back() -> None:
    async with fake_upstream(completion()) as upstream, running_gate(upstream.url) as gate:
        response, _ = await gate.chat(ASKED, {"x-request-id": "mine-1"})

    assert upstream.calls[0].headers["x-request-id"] == "mine-1"
    assert response.headers["x-request-id"] == "mine-1"


async def test_request_without_id_gets_one() -> None:
    async with fake_upstream(completion()) as upstream, running_gate(upstream.url) as gate:
        response, _ = await gate.chat(ASKED)

    assert response.headers["x-request-id"] == upstream.calls[0].headers["x-request-id"]


async def test_headers_say_what_the_gate_did() -> None:
    async with fake_upstream(completion()) as upstream, running_gate(upstream.url) as gate:
        response, _ = await gate.chat(ASKED)

    assert response.headers["x-sluicegate-outcome"] == "passed"
    assert response.headers["x-sluicegate-attempts"] == "1"
    assert response.headers["x-sluicegate-policy"].startswith("production@")


async def test_unknown_model_is_the_upstream_s_own_404() -> None:
    error = {"error": {"message": "no such model", "type": "NotFoundError", "code": 404}}
    reply = Scripted((json.dumps(error).encode(),), status=404)
    async with fake_upstream(reply) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(ASKED)

    assert response.status == 404
    assert json.loads(received) == error
    assert response.headers["x-should-retry"] == "false"
    assert len(upstream.calls) == 1


async def test_retry_after_of_the_upstream_is_kept() -> None:
    busy = Scripted((b'{"error":{}}',), status=429, headers=[("retry-after", "7")])
    async with fake_upstream(busy) as upstream, running_gate(upstream.url) as gate:
        response, _ = await gate.chat(ASKED)

    assert (response.status, response.headers["retry-after"]) == (429, "7")
    assert len(upstream.calls) == 1


async def test_context_overflow_that_the_upstream_calls_its_own_fault_is_the_client_s() -> None:
    body = b'{"error":{"message":"prompt exceeds the maximum context length of 8192"}}'
    async with (
        fake_upstream(Scripted((body,), status=500)) as upstream,
        running_gate(upstream.url) as gate,
    ):
        response, received = await gate.chat(ASKED)

    assert (response.status, received) == (400, body)
    assert len(upstream.calls) == 1


@pytest.mark.parametrize("status", [500, 502, 503], ids=["500_cold", "502", "503"])
async def test_upstream_fault_before_the_first_byte_is_tried_once_more(status: int) -> None:
    fault = Scripted((b'{"error":{}}',), status=status)
    async with fake_upstream(fault, completion()) as upstream, running_gate(upstream.url) as gate:
        response, _ = await gate.chat(ASKED)

    assert response.status == 200
    assert upstream.calls[0].body == upstream.calls[1].body


async def test_persisting_upstream_fault_is_relayed_after_one_repetition() -> None:
    fault = Scripted((b'{"error":{"message":"down"}}',), status=502)
    async with fake_upstream(fault, fault, fault) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(ASKED)

    assert response.status == 502
    assert b"down" in received
    assert len(upstream.calls) == 2


async def test_error_object_before_anything_was_released_is_tried_once_more() -> None:
    broken = Scripted(
        (b'data: {"error":{"message":"grammar","code":500}}\n\n', b"data: [DONE]\n\n"),
        content_type="text/event-stream",
    )
    good = stream(["a"], usage=None)
    async with fake_upstream(broken, good) as upstream, running_gate(upstream.url, LEAVE) as gate:
        _, received = await gate.chat(STREAMED)

    assert received == _joined(good)


async def test_error_object_in_a_running_stream_is_relayed_and_counted_as_failure() -> None:
    pieces = (
        chunk({"content": "Hel"}),
        b'data: {"error":{"message":"engine died","code":500}}\n\n',
        b"data: [DONE]\n\n",
    )
    reply = Scripted(pieces, content_type="text/event-stream", pause_seconds=0.01)
    async with fake_upstream(reply) as upstream, running_gate(upstream.url, LEAVE) as gate:
        response, received = await gate.chat(STREAMED)
        record = await gate.record(response)

    assert received == b"".join(pieces)
    assert record["outcome"] == "upstream_failed"
    assert "ttfr_seconds" not in record or record["ttfr_seconds"] is None


@pytest.mark.parametrize("end", [End.COMPLETE, End.CUT])
async def test_stream_without_finish_reason_ends_in_an_error_event(end: End) -> None:
    reply = stream(["Der Bodensee"], finish_reason=None, usage=None, done=False, end=end)
    async with fake_upstream(reply) as upstream, running_gate(upstream.url, LEAVE) as gate:
        response, received = await gate.chat(STREAMED)
        record = await gate.record(response)

    head, _, last = received.rpartition(b"data: ")
    assert head == _joined(reply)
    assert json.loads(last)["error"]["type"] == "upstream_error"
    assert b"[DONE]" not in received
    assert record["outcome"] == "upstream_failed"


async def test_client_that_leaves_cancels_the_upstream() -> None:
    reply = stream(["a"] * 500, pause_seconds=0.01)
    async with fake_upstream(reply) as upstream, running_gate(upstream.url) as gate:
        async with gate.http.post(f"{gate.url}/v1/chat/completions", json=STREAMED) as response:
            await response.content.readany()
            request_id = response.headers["x-request-id"]
            response.close()
        async with asyncio.timeout(2):
            await upstream.calls[0].over.wait()
        await asyncio.sleep(0.05)
        async with gate.http.get(f"{gate.admin_url}/sluicegate/requests/{request_id}") as found:
            record = await found.json()

    assert upstream.calls[0].closed_early
    assert record["outcome"] == "client_gone"


async def test_client_that_leaves_before_the_reply_cancels_the_upstream() -> None:
    reply = Scripted((b"{", b"}"), pause_seconds=30)
    async with fake_upstream(reply) as upstream, running_gate(upstream.url) as gate:
        with pytest.raises(TimeoutError):
            await gate.http.post(
                f"{gate.url}/v1/chat/completions",
                json=ASKED,
                timeout=aiohttp.ClientTimeout(total=0.2),
            )
        async with asyncio.timeout(2):
            await upstream.calls[0].over.wait()

    assert upstream.calls[0].closed_early


async def test_models_and_other_allowed_paths_are_relayed() -> None:
    async with fake_upstream(completion()) as upstream, running_gate(upstream.url) as gate:
        upstream.pages["/v1/models?x=1"] = Scripted((b'{"data":[]}',))
        async with gate.http.get(f"{gate.url}/v1/models?x=1") as models:
            listed = await models.read()
        async with gate.http.post(f"{gate.url}/tokenize", json={"prompt": "a"}) as tokens:
            status = tokens.status

    assert listed == b'{"data":[]}'
    assert status == 200


async def test_stream_of_two_choices_is_finished_when_both_are() -> None:
    first, second = stream(["a"], usage=None, done=False), stream(["b"], finish_reason=None)
    other = [piece.replace(b'"index":0', b'"index":1') for piece in second.pieces[:2]]
    pieces = [*first.pieces, *other, b"data: [DONE]\n\n"]
    reply = Scripted(pieces, content_type="text/event-stream")
    async with fake_upstream(reply) as upstream, running_gate(upstream.url, LEAVE) as gate:
        response, _ = await gate.chat(STREAMED | {"n": 2})
        record = await gate.record(response)

    assert record["outcome"] == "upstream_failed"
