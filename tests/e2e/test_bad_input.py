"""What hostile and careless clients send, and what broken upstreams answer."""

import asyncio
import json
import socket
from typing import Any

import pytest

from tests.fakes.gate import Gate, eventually, running_gate
from tests.fakes.upstream import End, Scripted, chunk, completion, fake_upstream, stream

ASKED: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}]}
STREAMED = ASKED | {"stream": True}


def _error(received: bytes) -> dict[str, Any]:
    error: dict[str, Any] = json.loads(received)["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return error


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"", None),
        (b"nonsense", None),
        (b"[1]", None),
        (b'{"model":NaN}', None),
        (b'{"x":"\xff"}', None),
        (b'{"stream":"yes"}', "stream"),
        (b'{"n":[1]}', "n"),
        (b'{"model":7}', "model"),
        (b'{"a":' + b"[" * 100_000, None),
    ],
    ids=["empty", "text", "array", "nan", "not_utf8", "stream", "n", "model", "deep"],
)
async def test_unreadable_body_is_a_400_that_never_reaches_the_upstream(
    body: bytes, param: str | None
) -> None:
    async with fake_upstream() as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(body)

    assert response.status == 400
    error = _error(received)
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert upstream.calls == []


async def test_lone_surrogates_are_relayed_as_they_came() -> None:
    body = b'{"model":"tiny","messages":[{"role":"user","content":"\\ud83d"}]}'
    async with fake_upstream(completion()) as upstream, running_gate(upstream.url) as gate:
        response, _ = await gate.chat(body)

    assert response.status == 200
    assert upstream.calls[0].body == body


async def test_too_large_body_is_a_413_that_names_the_setting() -> None:
    settings = {"limits.request_bytes": 1024}
    async with fake_upstream() as upstream, running_gate(upstream.url, settings) as gate:
        response, received = await gate.chat(ASKED | {"x": "y" * 2000})

    assert response.status == 413
    assert "limits.request_bytes" in _error(received)["message"]
    assert upstream.calls == []


async def test_too_large_body_without_a_length_is_refused_too() -> None:
    async def endless() -> Any:
        for _ in range(100):
            yield b"x" * 1024

    settings = {"limits.request_bytes": 4096}
    async with fake_upstream() as upstream, running_gate(upstream.url, settings) as gate:
        url = f"{gate.url}/v1/chat/completions"
        async with gate.http.post(url, data=endless()) as response:
            status = response.status

    assert status == 413


async def test_picture_of_some_megabytes_goes_through() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 3_000_000}}
    asked = ASKED | {"messages": [{"role": "user", "content": [image]}]}
    async with fake_upstream(completion()) as upstream, running_gate(upstream.url) as gate:
        response, _ = await gate.chat(asked)

    assert response.status == 200
    assert upstream.calls[0].json == asked


async def test_body_that_never_comes_is_a_408() -> None:
    settings = {"limits.body_seconds": 0.1}
    async with fake_upstream() as upstream, running_gate(upstream.url, settings) as gate:
        reader, writer = await asyncio.open_connection("127.0.0.1", _port(gate))
        writer.write(
            b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"
        )
        async with asyncio.timeout(5):
            received = await reader.read()
        writer.close()

    assert received.startswith(b"HTTP/1.1 408 ")
    assert b"body_too_slow" in received


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "martian"])
async def test_compressed_body_is_a_415(encoding: str) -> None:
    async with fake_upstream() as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(b"\x1f\x8b", {"content-encoding": encoding})

    assert response.status == 415
    assert _error(received)["code"] == "unsupported_encoding"


async def test_garbage_instead_of_http_does_not_disturb_the_next_request() -> None:
    async with fake_upstream(completion()) as upstream, running_gate(upstream.url) as gate:
        reader, writer = await asyncio.open_connection("127.0.0.1", _port(gate))
        writer.write(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n")
        refused = await reader.read()
        writer.close()
        response, _ = await gate.chat(ASKED)

    assert refused.startswith(b"HTTP/1.1 400")
    assert response.status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/v1/load_lora_adapter",
        "/collective_rpc",
        "/sleep",
        "/v1/models/../../sleep",
        "/v1/models/%2e%2e/%2e%2e/sleep",
        "/v1/responses/a%2f..%2f..%2fsleep/cancel",
        "/metrics",
        "/reset_prefix_cache",
    ],
)
async def test_paths_outside_the_allow_list_never_reach_the_upstream(path: str) -> None:
    async with fake_upstream() as upstream, running_gate(upstream.url) as gate:
        before = len(upstream.received)
        reader, writer = await asyncio.open_connection("127.0.0.1", _port(gate))
        writer.write(f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n".encode())
        received = await reader.readuntil(b"\r\n")
        writer.close()
        asked = [call.path for call in upstream.received[before:] if call.path != "/metrics"]

    assert received.startswith((b"HTTP/1.1 404", b"HTTP/1.1 405"))
    assert asked == []


async def test_path_without_v1_gets_a_hint() -> None:
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url) as gate,
        gate.http.post(f"{gate.url}/chat/completions", json=ASKED) as response,
    ):
        received = await response.read()

    assert response.status == 404
    assert "/v1/chat/completions" in _error(received)["message"]


async def test_wrong_method_is_a_405() -> None:
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url) as gate,
        gate.http.get(f"{gate.url}/v1/chat/completions") as response,
    ):
        assert response.status == 405


async def test_closed_surfaces_are_a_403_when_the_settings_refuse_unjudged_ones() -> None:
    settings = {"unjudged": "refuse"}
    async with (
        fake_upstream(completion()) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        async with gate.http.post(f"{gate.url}/v1/responses", json=ASKED) as closed:
            received = await closed.read()
        open_response, _ = await gate.chat(ASKED)

    assert closed.status == 403
    assert _error(received)["code"] == "unjudged_path"
    assert open_response.status == 200


async def test_unjudged_surface_is_relayed_and_counted() -> None:
    async with fake_upstream(completion()) as upstream, running_gate(upstream.url) as gate:
        async with gate.http.post(f"{gate.url}/v1/responses", json=ASKED) as response:
            await response.read()
        metrics = await gate.metrics()

    assert response.status == 200
    assert metrics['sluicegate_unchecked_total{reason="surface"}'] == 1


async def test_policy_that_a_request_may_not_name_is_a_400() -> None:
    async with fake_upstream() as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(ASKED, {"x-sluicegate-policy": "secret"})

    assert response.status == 400
    assert _error(received)["code"] == "unknown_policy"


async def test_upstream_that_is_not_there_is_a_503_worth_coming_again_for() -> None:
    async with running_gate(f"http://127.0.0.1:{_free_port()}") as gate:
        response, received = await gate.chat(ASKED)
        async with gate.http.get(f"{gate.admin_url}/ready") as ready:
            told = await ready.json()

    assert response.status == 503
    assert int(response.headers["retry-after"]) > 0
    assert "x-should-retry" not in response.headers
    assert _error(received)["code"] == "upstream_unreachable"
    assert (ready.status, told["lanes"]["main"]["engine"]) == (503, "unreachable")


async def test_upstream_that_answers_no_http_is_a_502() -> None:
    garbage = Scripted((), raw=b"\x00\x01SSH-2.0\r\n\r\n")
    async with fake_upstream(garbage, garbage) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(ASKED)

    assert response.status == 502
    assert response.headers["x-should-retry"] == "false"
    assert _error(received)["code"] == "upstream_bad_reply"


@pytest.mark.parametrize(
    "body", [b"<html>", b"", b"[]", b"{"], ids=["html", "empty", "list", "cut"]
)
async def test_reply_that_is_no_object_is_a_502(body: bytes) -> None:
    reply = Scripted((body,) if body else ())
    async with fake_upstream(reply, reply) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(ASKED)

    assert response.status == 502
    assert _error(received)["code"] == "upstream_bad_reply"


async def test_reply_cut_off_is_repeated_once_and_then_a_502() -> None:
    cut = Scripted((b'{"choices":[',), end=End.CUT)
    async with fake_upstream(cut, cut) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(ASKED)

    assert response.status == 502
    assert _error(received)["code"] == "upstream_bad_reply"
    assert len(upstream.calls) == 2


async def test_upstream_that_never_begins_is_a_504_and_asked_once() -> None:
    settings = {"limits.reply_seconds": 0.2}
    silent = Scripted((b"{}",), pause_seconds=30)
    async with fake_upstream(silent) as upstream, running_gate(upstream.url, settings) as gate:
        response, received = await gate.chat(ASKED)
        async with asyncio.timeout(2):
            await upstream.calls[0].over.wait()

    assert response.status == 504
    assert response.headers["x-should-retry"] == "false"
    assert _error(received)["type"] == "timeout_error"
    assert upstream.calls[0].closed_early
    assert len(upstream.calls) == 1


async def test_stream_that_falls_silent_ends_in_an_error_event() -> None:
    settings = {"limits.idle_seconds": 0.2}
    silent = stream(["a"], finish_reason=None, usage=None, done=False, end=End.HANG)
    async with fake_upstream(silent) as upstream, running_gate(upstream.url, settings) as gate:
        response, received = await gate.chat(STREAMED)
        record = await gate.record(response)

    assert response.status == 200
    assert b'"upstream_idle"' in received
    assert b"[DONE]" not in received
    assert record["outcome"] == "timed_out"


async def test_stream_that_never_ends_is_ended_at_the_limit() -> None:
    settings = {"limits.reply_bytes": 20_000}
    endless = stream(["x" * 100] * 500)
    async with fake_upstream(endless) as upstream, running_gate(upstream.url, settings) as gate:
        _, received = await gate.chat(STREAMED)

    assert len(received) < 30_000
    assert b'"too_large"' in received


@pytest.mark.parametrize("streamed", [False, True], ids=["body", "stream"])
async def test_oversized_reply_is_not_asked_for_twice(streamed: bool) -> None:
    settings = {"limits.reply_bytes": 1000, "limits.event_bytes": 1000}
    reply = stream(["x" * 5000]) if streamed else completion("x" * 5000)
    asked = {**ASKED, "stream": streamed, "response_format": {"type": "json_object"}}
    async with (
        fake_upstream(reply, reply) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        response, received = await gate.chat(asked)

    assert response.status == 502
    assert _error(received)["code"] == "too_large"
    assert len(upstream.calls) == 1


async def test_event_without_an_end_is_bounded() -> None:
    settings = {"limits.event_bytes": 4096}
    endless = Scripted([b"data: " + b"x" * 1000] * 50, content_type="text/event-stream")
    async with fake_upstream(endless) as upstream, running_gate(upstream.url, settings) as gate:
        response, received = await gate.chat(STREAMED)

    assert response.status == 502
    assert _error(received)["code"] == "too_large"


async def test_stream_of_garbage_ends_in_an_error() -> None:
    garbage = Scripted((b"\xff\xfe\r\r\n\n: x\n\nfoo\n\n",), content_type="text/event-stream")
    async with fake_upstream(garbage, garbage) as upstream, running_gate(upstream.url) as gate:
        _, received = await gate.chat(STREAMED)

    assert b"stream_unfinished" in received


async def test_requests_beyond_the_queue_are_429_with_retry_after() -> None:
    settings = {"admission.concurrent": 1, "admission.queue": 0}
    slow = Scripted((chunk({"content": "a"}),), content_type="text/event-stream", end=End.HANG)
    async with fake_upstream(slow) as upstream, running_gate(upstream.url, settings) as gate:
        url = f"{gate.url}/v1/chat/completions"
        async with gate.http.post(url, json=STREAMED) as first:
            await first.content.readany()
            refused, received = await gate.chat(ASKED)
            first.close()

    assert refused.status == 429
    assert refused.headers["retry-after"] == "1"
    assert _error(received)["code"] == "queue_full"


async def test_made_up_model_names_make_no_new_series() -> None:
    errors = [Scripted((b'{"error":{}}',), status=404) for _ in range(20)]
    async with fake_upstream(*errors) as upstream, running_gate(upstream.url) as gate:
        before = set(await gate.metrics())
        for number in range(20):
            await gate.chat(ASKED | {"model": f"made-up-{number}"})
        after = set(await gate.metrics())

    assert after == before


async def test_series_stay_under_500() -> None:
    async with fake_upstream() as upstream, running_gate(upstream.url) as gate:
        assert len(await gate.metrics()) < 500


async def test_prompt_and_reply_are_in_neither_log_nor_metrics_nor_look_up() -> None:
    asked = ASKED | {
        "messages": [{"role": "user", "content": "SECRETPROMPT"}],
        "response_format": {"type": "json_object"},
    }
    replies = [completion("SECRETREPLY {")] * 3
    async with fake_upstream(*replies) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(asked)
        record = json.dumps(await gate.record(response))
        metrics = "\n".join(await gate.metrics())
        await eventually(lambda: bool(gate.log.getvalue()))
        log = gate.log.getvalue()

    assert response.status == 422
    assert json.loads(log)["outcome"] == "rejected"
    for shown in (record, metrics, log, received.decode()):
        assert "SECRET" not in shown


def _port(gate: Gate) -> int:
    return int(gate.url.rsplit(":", 1)[1])
