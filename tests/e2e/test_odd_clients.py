"""What careless and old clients do on the wire."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.fakes.gate import Gate, eventually, running_gate
from tests.fakes.upstream import End, Scripted, chunk, completion, fake_upstream, stream

ASKED: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}]}
BODY = json.dumps(ASKED).encode()
HANGING = Scripted((chunk({"content": "a"}),), content_type="text/event-stream", end=End.HANG)


def _request(
    *headers: bytes, body: bytes = BODY, version: bytes = b"1.1", path: bytes = b"chat/completions"
) -> bytes:
    lines = (
        b"POST /v1/%s HTTP/%s" % (path, version),
        b"host: x",
        b"content-length: %d" % len(body),
        *headers,
    )
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


async def _open(gate: Gate) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", int(gate.url.rsplit(":", 1)[1]))


async def _say(gate: Gate, data: bytes) -> bytes:
    """Say something and read until the server hangs up."""
    reader, writer = await _open(gate)
    writer.write(data)
    async with asyncio.timeout(5):
        received = await reader.read()
    writer.close()
    return received


async def test_body_in_chunks_reaches_the_upstream_whole() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(BODY), 7):
            yield BODY[at : at + 7]

    async with (
        fake_upstream(completion()) as upstream,
        running_gate(upstream.url) as gate,
        gate.http.post(f"{gate.url}/v1/chat/completions", data=pieces()) as response,
    ):
        assert response.status == 200

    assert upstream.calls[0].body == BODY
    assert "transfer-encoding" not in upstream.calls[0].headers


async def test_client_that_waits_for_100_is_told_to_go_on() -> None:
    async with fake_upstream(completion()) as upstream, running_gate(upstream.url) as gate:
        reader, writer = await _open(gate)
        writer.write(_request(b"expect: 100-continue", b"connection: close").removesuffix(BODY))
        told = await reader.readuntil(b"\r\n\r\n")
        writer.write(BODY)
        received = await reader.read()
        writer.close()

    assert told.startswith(b"HTTP/1.1 100 ")
    assert received.startswith(b"HTTP/1.1 200 ")
    assert "expect" not in upstream.calls[0].headers


async def test_http_1_0_gets_a_whole_reply_and_the_end_of_the_connection() -> None:
    async with fake_upstream(completion()) as upstream, running_gate(upstream.url) as gate:
        received = await _say(gate, _request(version=b"1.0"))

    head, _, body = received.partition(b"\r\n\r\n")
    assert b"connection: close" in head
    assert body == completion().pieces[0]


async def test_pipelined_requests_are_answered_in_order() -> None:
    first, second = completion("first"), completion("second")
    async with fake_upstream(first, second) as upstream, running_gate(upstream.url) as gate:
        received = await _say(gate, _request() + _request(b"connection: close"))

    assert received.count(b"HTTP/1.1 200") == 2
    assert received.index(b"first") < received.index(b"second")


async def test_client_that_closes_its_half_counts_as_gone() -> None:
    async with fake_upstream(HANGING) as upstream, running_gate(upstream.url) as gate:
        _, writer = await _open(gate)
        writer.write(_request(body=json.dumps(ASKED | {"stream": True}).encode()))
        await eventually(lambda: bool(upstream.calls))
        writer.write_eof()
        async with asyncio.timeout(5):
            await upstream.calls[0].over.wait()
        writer.close()

    assert upstream.calls[0].closed_early


@pytest.mark.parametrize(
    "given",
    [b"x" * 129, "é".encode(), b"a b", b""],
    ids=["long", "not_ascii", "space", "empty"],
)
async def test_request_id_that_is_no_word_is_replaced(given: bytes) -> None:
    async with fake_upstream(completion()) as upstream, running_gate(upstream.url) as gate:
        received = await _say(gate, _request(b"x-request-id: " + given, b"connection: close"))

    assert received.startswith(b"HTTP/1.1 200")
    assert len(upstream.calls[0].headers["x-request-id"]) == 32
    assert b"x-request-id: " + upstream.calls[0].headers["x-request-id"].encode() in received


async def test_request_id_with_a_slash_can_be_looked_up() -> None:
    async with fake_upstream(completion()) as upstream, running_gate(upstream.url) as gate:
        response, _ = await gate.chat(ASKED, {"x-request-id": "team/1"})
        record = await gate.record(response)

    assert record["id"] == "team/1"


@pytest.mark.parametrize(
    "data",
    [
        _request(path="chat/completiöns".encode()),
        _request(b"x-a: 1\rx-b: 2"),
        _request(b"transfer-encoding: chunked"),
        _request(b"content-length: 1"),
        b"GET /v1/models HTTP/3.7\r\n\r\n",
        b"CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n",
    ],
    ids=["path", "bare_cr", "two_framings", "two_lengths", "version", "connect"],
)
async def test_malformed_request_is_a_400_that_goes_nowhere(data: bytes) -> None:
    async with fake_upstream() as upstream, running_gate(upstream.url) as gate:
        received = await _say(gate, data)

    assert received.startswith((b"HTTP/1.1 400", b"HTTP/1.1 404"))
    assert upstream.calls == []


async def test_text_in_headers_and_query_reaches_the_upstream_as_it_was() -> None:
    async with fake_upstream(completion()) as upstream, running_gate(upstream.url) as gate:
        await _say(
            gate,
            _request(
                "x-city: Köln".encode(),
                b"connection: close",
                path=b"chat/completions?a=%20b&c=%2F",
            ),
        )

    call = upstream.calls[0]
    assert call.headers["x-city"].encode("latin-1").decode() == "Köln"
    assert call.path == "/v1/chat/completions?a=%20b&c=%2F"


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "DELETE"])
async def test_other_methods_are_a_405(method: str) -> None:
    async with (
        fake_upstream() as upstream,
        running_gate(upstream.url) as gate,
        gate.http.request(method, f"{gate.url}/v1/chat/completions") as response,
    ):
        assert response.status == 405
        assert upstream.calls == []


@pytest.mark.parametrize("held", [False, True])
async def test_client_that_leaves_the_queue_never_reaches_the_upstream(held: bool) -> None:
    settings = {"admission.concurrent": 1, "admission.queue": 4}
    asked = ASKED | ({"response_format": {"type": "json_object"}} if held else {})
    async with (
        fake_upstream(HANGING, completion("{}")) as upstream,
        running_gate(upstream.url, settings) as gate,
    ):
        _, first = await _open(gate)
        first.write(_request(body=json.dumps(ASKED | {"stream": True}).encode()))
        await eventually(lambda: bool(upstream.calls))
        admission = gate.app.gateway.door.admission
        _, second = await _open(gate)
        second.write(_request(body=json.dumps(asked).encode()))
        await eventually(lambda: admission.depth == 1)
        second.close()
        await eventually(lambda: admission.depth == 0)
        first.close()
        await eventually(lambda: len(gate.app.gateway.running) == 0)
        response, _ = await gate.chat(asked)

    assert response.status == 200
    assert len(upstream.calls) == 2


async def test_stream_that_the_client_does_not_read_is_not_read_either() -> None:
    piece = "x" * 60_000
    many = stream([piece] * 400, usage=None)
    limits = {"limits.reply_bytes": "64MiB"}
    async with fake_upstream(many) as upstream, running_gate(upstream.url, limits) as gate:
        _, writer = await _open(gate)
        writer.write(_request(body=json.dumps(ASKED | {"stream": True}).encode()))
        await eventually(lambda: bool(upstream.calls) and upstream.calls[0].written > 0)
        written = -1
        while written != upstream.calls[0].written:
            written = upstream.calls[0].written
            await asyncio.sleep(0.1)
        writer.transport.abort()
        async with asyncio.timeout(5):
            await upstream.calls[0].over.wait()

    assert written < len(many.pieces)
    assert upstream.calls[0].closed_early
