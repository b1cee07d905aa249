"""Upstreams that answer with HTTP that is legal, or nearly so, and not what was asked for."""

import gzip
import json
from typing import Any

import pytest

from tests.fakes.gate import running_gate
from tests.fakes.upstream import End, Scripted, completion, fake_upstream, stream

ASKED: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}]}
STRICT = ASKED | {"response_format": {"type": "json_object"}}
ONCE = b"HTTP/1.1 200 OK\r\nconnection: close\r\n"


def _code(received: bytes) -> str:
    code: str = json.loads(received)["error"]["code"]
    return code


@pytest.mark.parametrize("asked", [ASKED, STRICT], ids=["passed", "held"])
@pytest.mark.parametrize("status", [301, 307, 201, 999])
async def test_answer_that_is_neither_reply_nor_error_is_a_502(
    asked: dict[str, Any], status: int
) -> None:
    odd = Scripted((), status=status, headers=[("location", "http://inside/v1")])
    async with fake_upstream(odd, odd) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(asked)

    assert response.status == 502
    assert "location" not in response.headers
    assert _code(received) == "upstream_bad_reply"
    assert str(status) in json.loads(received)["error"]["message"]


async def test_redirect_of_a_look_up_is_a_502_too() -> None:
    async with fake_upstream() as upstream, running_gate(upstream.url) as gate:
        upstream.pages["/v1/models"] = Scripted((), status=302, headers=[("location", "/x")])
        async with gate.http.get(f"{gate.url}/v1/models", allow_redirects=False) as response:
            assert response.status == 502


@pytest.mark.parametrize("streamed", [False, True], ids=["body", "stream"])
@pytest.mark.parametrize("asked", [ASKED, STRICT], ids=["passed", "held"])
async def test_compressed_reply_is_a_clear_error(asked: dict[str, Any], streamed: bool) -> None:
    plain = stream(["{}"]) if streamed else completion("{}")
    reply = Scripted(
        (gzip.compress(b"".join(plain.pieces)),),
        headers=[("content-encoding", "gzip")],
        content_type=plain.content_type,
    )
    async with fake_upstream(reply, reply) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(asked | {"stream": streamed})

    assert response.status == 502
    assert "compressed" in json.loads(received)["error"]["message"]


async def test_compressed_reply_that_no_gate_reads_goes_through() -> None:
    reply = Scripted((gzip.compress(b"{}"),), headers=[("content-encoding", "gzip")])
    async with (
        fake_upstream(reply) as upstream,
        running_gate(upstream.url) as gate,
        gate.http.post(f"{gate.url}/v1/embeddings", json=ASKED) as response,
    ):
        assert await response.read() == b"{}"


async def test_headers_that_cannot_be_sent_as_they_are_break_nothing() -> None:
    raw = (
        ONCE
        + (
            "x-bell: a\x07b\r\nx-arrow: →\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n"
            "x-sluicegate-outcome: theirs\r\ncontent-length: 2\r\n\r\n{}"
        ).encode()
    )
    async with (
        fake_upstream(Scripted((), raw=raw)) as upstream,
        running_gate(upstream.url) as gate,
    ):
        response, received = await gate.chat(ASKED)

    assert (response.status, received) == (200, b"{}")
    assert response.headers["x-bell"] == "a b"
    assert response.headers["x-arrow"] == "→"
    assert response.headers.getall("set-cookie") == ["a=1", "b=2"]
    assert response.headers.getall("x-sluicegate-outcome") == ["passed"]


async def test_client_that_asked_for_a_stream_gets_the_body_that_came() -> None:
    reply = completion('{"a":1}')
    async with fake_upstream(reply) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(STRICT | {"stream": True})

    assert response.headers["content-type"] == "application/json"
    assert received == reply.pieces[0]


async def test_reply_before_the_body_was_read_reaches_the_client() -> None:
    early = b"HTTP/1.1 413 X\r\ncontent-length: 12\r\nconnection: close\r\n\r\n"
    reply = Scripted((), raw=early + b'{"error":{}}')
    async with fake_upstream(reply) as upstream, running_gate(upstream.url) as gate:
        response, received = await gate.chat(ASKED | {"x": "y" * 3_000_000})

    assert (response.status, received) == (413, b'{"error":{}}')


async def test_end_of_a_stream_that_breaks_after_done_is_no_error() -> None:
    reply = stream(["a"], usage=None, end=End.CUT)
    async with (
        fake_upstream(reply) as upstream,
        running_gate(upstream.url, {"usage": "leave"}) as gate,
    ):
        response, received = await gate.chat(ASKED | {"stream": True})
        record = await gate.record(response)

    assert received == b"".join(reply.pieces)
    assert record["outcome"] == "passed"


async def test_usage_below_zero_does_not_lose_the_record() -> None:
    reply = completion(usage=(-1, -1))
    async with fake_upstream(reply) as upstream, running_gate(upstream.url) as gate:
        response, _ = await gate.chat(ASKED)
        record = await gate.record(response)
        metrics = await gate.metrics()

    assert record["outcome"] == "passed"
    assert metrics["sluicegate_output_tokens_total"] == 0


async def test_observed_bodies_certify_the_engine() -> None:
    async with (
        fake_upstream(completion("{}")) as upstream,
        running_gate(upstream.url, {"observe": True}) as gate,
    ):
        await gate.chat(STRICT)
        await gate.metrics()

        assert not gate.app.engine.is_cold
