"""A fake vLLM: enough HTTP/1.1 and enough of the API to stand behind a gateway under load.

    python benchmarks/fake_upstream.py --port 8000        (0: any free port, which is printed)

Answers POST /v1/chat/completions and GET /v1/models, /health and /metrics. What a request gets:

- `"stream": true`: a role event, 128 token events, a finish event, a usage event if asked for;
- `"tool_choice": "required"`: a tool call with a JSON document as its arguments;
- `"response_format"`: a JSON document that fits the benchmark's schema, else plain text; with
  `answer-in-prose` in a message the text all the same;
- `document-items=N` in a message: that document with N items, of about 95 bytes each;
- `stream-events=N` in a message: a stream of N token events instead of 128;
- `"max_tokens"` below that: a stream of so many tokens;
- header `x-pace-ms: N`, or `pace-ms=N` in a message: one event every N milliseconds, each token
  being `@T,A;` with the CLOCK_MONOTONIC times in nanoseconds of its sending (T) and of the
  request's arrival (A), so that a client on the same machine can tell how long the way there and
  back took. Without it every event is sent at once, each in a turn of the event loop and a send
  of its own.
"""

import argparse
import asyncio
import re
import time
from collections.abc import Iterator
from typing import cast

import contents
import uvloop
from fake_replies import (
    STREAM_END,
    STREAM_HEAD,
    Arrived,
    Counters,
    Replies,
    json_reply,
    whole_reply,
)
from typing_extensions import override

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_CLOSE = re.compile(rb"\r\nconnection: *close", re.IGNORECASE)
_PAGE_TYPE = b"text/plain; version=0.0.4; charset=utf-8"


class Connection(asyncio.Protocol):
    """One keep-alive connection; a request that comes while a stream runs waits its turn."""

    def __init__(self, replies: Replies) -> None:
        self._replies = replies
        self._loop = asyncio.get_running_loop()
        self._received = bytearray()
        self._timer: asyncio.Handle | None = None
        self._closes = False

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()

    @override
    def data_received(self, data: bytes) -> None:
        self._received += data
        self._answer_waiting()

    def _answer_waiting(self) -> None:
        while self._timer is None and (arrived := self._take_request()) is not None:
            self._answer(arrived)

    def _take_request(self) -> Arrived | None:
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return None
        head = bytes(self._received[:end])
        found = _LENGTH.search(head)
        body_begin, length = end + 4, int(found[1]) if found else 0
        if len(self._received) < body_begin + length:
            return None
        body = bytes(self._received[body_begin : body_begin + length])
        del self._received[: body_begin + length]
        return Arrived(head.partition(b"\r\n")[0], head, body, time.monotonic_ns())

    def _answer(self, arrived: Arrived) -> None:
        self._closes = _CLOSE.search(arrived.head) is not None
        if _CHUNKED.search(arrived.head):
            self._closes = True
            self._send(json_reply(b'{"detail":"Length Required"}', b"411 Length Required"))
        elif arrived.line.startswith(b"POST /v1/chat/completions "):
            self._complete(arrived)
        elif arrived.line.startswith(b"GET /v1/models "):
            self._send(json_reply(contents.models()))
        elif arrived.line.startswith(b"GET /health "):
            self._send(whole_reply(b"", b"200 OK", b"text/plain"))
        elif arrived.line.startswith(b"GET /metrics "):
            page = self._replies.counters.page()
            self._send(whole_reply(page, b"200 OK", _PAGE_TYPE))
        else:
            self._send(json_reply(b'{"detail":"Not Found"}', b"404 Not Found"))

    def _complete(self, arrived: Arrived) -> None:
        self._replies.counters.prompt_tokens += contents.PROMPT_TOKENS
        if arrived.wants_stream:
            self._transport.write(STREAM_HEAD)
            chunks = self._replies.chunks(arrived)
            self._send_next(chunks, arrived.pace_seconds, self._loop.time())
        else:
            self._send(self._replies.whole(arrived))

    def _send_next(self, chunks: Iterator[bytes], pace_seconds: float, due: float) -> None:
        chunk = next(chunks)
        self._transport.write(chunk)
        due += pace_seconds
        if chunk.endswith(STREAM_END):
            self._timer = None
            self._close_if_asked()
            self._answer_waiting()
        elif pace_seconds:
            self._timer = self._loop.call_at(due, self._send_next, chunks, pace_seconds, due)
        else:
            self._timer = self._loop.call_soon(self._send_next, chunks, pace_seconds, due)

    def _send(self, reply: bytes) -> None:
        self._transport.write(reply)
        self._close_if_asked()

    def _close_if_asked(self) -> None:
        if self._closes:
            self._transport.close()


async def serve(host: str, port: int) -> asyncio.Server:
    """Listen; the caller closes the server. Port 0 takes a free one."""
    replies = Replies(Counters())
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: Connection(replies), host, port, backlog=1024)


async def _main(port: int) -> None:
    server = await serve("127.0.0.1", port)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=8000)
    uvloop.run(_main(parser.parse_args().port))
