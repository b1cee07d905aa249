"""A fake vLLM: enough HTTP/1.1 and enough of the API to stand behind a gateway under load.

    python benchmarks/fake_upstream.py --port 8000        (0: any free port, which is printed)

Answers POST /v1/chat/completions and GET /v1/models, /health and /metrics. What a request gets:

- `"stream": true`: a role event, 128 token events, a finish event, a usage event if asked for;
- `"response_format"`: a JSON document that fits the benchmark's schema, else plain text;
- `document-items=N` in a message: that document with N items, of about 95 bytes each;
- `"max_tokens"` below 128: a stream of so many tokens;
- header `x-pace-ms: N`, or `pace-ms=N` in a message: one event every N milliseconds, each token
  being `@T;` with T the CLOCK_MONOTONIC time of sending in nanoseconds, so that a client on the
  same machine can tell how late an event arrives. Without it every event is sent at once, each
  in a turn of the event loop and a send of its own.
"""

import argparse
import asyncio
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

import contents
import uvloop
from typing_extensions import override

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_CLOSE = re.compile(rb"\r\nconnection: *close", re.IGNORECASE)
_PACE_HEADER = re.compile(rb"\r\nx-pace-ms: *(\d+)", re.IGNORECASE)
_PACE_MARK = re.compile(rb"pace-ms=(\d+)")
_ITEMS_MARK = re.compile(rb"document-items=(\d+)")
_STREAM = re.compile(rb'"stream"\s*:\s*true')
_INCLUDE_USAGE = re.compile(rb'"include_usage"\s*:\s*true')
_MAX_TOKENS = re.compile(rb'"max_tokens"\s*:\s*(\d+)')

_STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nserver: uvicorn\r\n"
    b"content-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
)
_STREAM_END = b"0\r\n\r\n"


@dataclass(slots=True)
class Counters:
    """What /metrics tells; an aborted stream counts its tokens but is no success."""

    started_at: float = field(default_factory=time.time)
    successes: int = 0
    prompt_tokens: int = 0
    generation_tokens: int = 0

    def page(self) -> bytes:
        labels = f'engine="0",model_name="{contents.MODEL}"'
        return (
            "# TYPE process_start_time_seconds gauge\n"
            f"process_start_time_seconds {self.started_at}\n"
            "# TYPE vllm:request_success_total counter\n"
            f'vllm:request_success_total{{finished_reason="stop",{labels}}} {self.successes}\n'
            "# TYPE vllm:prompt_tokens_total counter\n"
            f"vllm:prompt_tokens_total{{{labels}}} {self.prompt_tokens}\n"
            "# TYPE vllm:generation_tokens_total counter\n"
            f"vllm:generation_tokens_total{{{labels}}} {self.generation_tokens}\n"
        ).encode()


@dataclass(frozen=True, slots=True)
class Replies:
    """Replies rendered once, whole and as HTTP chunks: equal requests get the same bytes."""

    text: bytes = field(default_factory=lambda: _json(contents.completion(contents.TEXT)))
    documents: dict[int, bytes] = field(default_factory=dict)
    text_tokens: list[bytes] = field(default_factory=lambda: _token_chunks(contents.TEXT))
    documents_tokens: dict[int, list[bytes]] = field(default_factory=dict)
    role: bytes = field(default_factory=lambda: _chunk(contents.role_event()))
    models: bytes = field(default_factory=lambda: _json(contents.models()))

    def document(self, items: int) -> bytes:
        if items not in self.documents:
            self.documents[items] = _json(contents.completion(contents.document(items)))
        return self.documents[items]

    def document_tokens(self, items: int) -> list[bytes]:
        if items not in self.documents_tokens:
            self.documents_tokens[items] = _token_chunks(contents.document(items))
        return self.documents_tokens[items]


@dataclass(frozen=True, slots=True)
class Arrived:
    """One request, read only as far as the reply depends on it."""

    line: bytes
    head: bytes
    body: bytes

    @property
    def pace_seconds(self) -> float:
        found = _PACE_HEADER.search(self.head) or _PACE_MARK.search(self.body)
        return int(found[1]) / 1000 if found else 0.0

    @property
    def items(self) -> int:
        found = _ITEMS_MARK.search(self.body)
        return int(found[1]) if found else contents.ITEMS

    @property
    def tokens(self) -> int:
        found = _MAX_TOKENS.search(self.body)
        return min(int(found[1]), contents.STREAM_TOKENS) if found else contents.STREAM_TOKENS


class Connection(asyncio.Protocol):
    """One keep-alive connection; a request that comes while a stream runs waits its turn."""

    def __init__(self, replies: Replies, counters: Counters) -> None:
        self._replies = replies
        self._counters = counters
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
        return Arrived(head.partition(b"\r\n")[0], head, body)

    def _answer(self, arrived: Arrived) -> None:
        self._closes = _CLOSE.search(arrived.head) is not None
        if _CHUNKED.search(arrived.head):
            self._closes = True
            self._send(_json(b'{"detail":"Length Required"}', b"411 Length Required"))
        elif arrived.line.startswith(b"POST /v1/chat/completions "):
            self._complete(arrived)
        elif arrived.line.startswith(b"GET /v1/models "):
            self._send(self._replies.models)
        elif arrived.line.startswith(b"GET /health "):
            self._send(_whole(b"", b"200 OK", b"text/plain"))
        elif arrived.line.startswith(b"GET /metrics "):
            page_type = b"text/plain; version=0.0.4; charset=utf-8"
            self._send(_whole(self._counters.page(), b"200 OK", page_type))
        else:
            self._send(_json(b'{"detail":"Not Found"}', b"404 Not Found"))

    def _complete(self, arrived: Arrived) -> None:
        strict = b'"response_format"' in arrived.body
        self._counters.prompt_tokens += contents.PROMPT_TOKENS
        if _STREAM.search(arrived.body):
            pace = arrived.pace_seconds
            self._transport.write(_STREAM_HEAD)
            self._send_next(self._chunks(arrived, strict=strict), pace, self._loop.time())
            return
        self._counters.successes += 1
        self._counters.generation_tokens += contents.REPLY_TOKENS
        self._send(self._replies.document(arrived.items) if strict else self._replies.text)

    def _chunks(self, arrived: Arrived, *, strict: bool) -> Iterator[bytes]:
        """The chunks of one stream; those of a paced one are made when they are due."""
        count = arrived.tokens
        replies = self._replies
        yield replies.role
        if arrived.pace_seconds:
            for _ in range(count):
                self._counters.generation_tokens += 1
                yield _chunk(contents.token_event(f"@{time.monotonic_ns()};"))
        else:
            tokens = replies.document_tokens(arrived.items) if strict else replies.text_tokens
            for chunk in tokens[:count]:
                self._counters.generation_tokens += 1
                yield chunk
        cut = count < contents.STREAM_TOKENS
        yield _chunk(contents.finish_event("length" if cut else "stop"))
        if _INCLUDE_USAGE.search(arrived.body):
            yield _chunk(contents.usage_event(count))
        self._counters.successes += 1
        yield _chunk(b"data: [DONE]\n\n") + _STREAM_END

    def _send_next(self, chunks: Iterator[bytes], pace_seconds: float, due: float) -> None:
        chunk = next(chunks)
        self._transport.write(chunk)
        due += pace_seconds
        if chunk.endswith(_STREAM_END):
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


def _whole(body: bytes, status: bytes, content_type: bytes) -> bytes:
    head = b"HTTP/1.1 %b\r\nserver: uvicorn\r\ncontent-type: %b\r\ncontent-length: %d\r\n\r\n"
    return head % (status, content_type, len(body)) + body


def _json(body: bytes, status: bytes = b"200 OK") -> bytes:
    return _whole(body, status, b"application/json")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _token_chunks(content: str) -> list[bytes]:
    return [_chunk(contents.token_event(piece)) for piece in contents.pieces(content)]


async def serve(host: str, port: int) -> asyncio.Server:
    """Listen; the caller closes the server. Port 0 takes a free one."""
    replies, counters = Replies(), Counters()
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: Connection(replies, counters), host, port, backlog=1024)


async def _main(port: int) -> None:
    server = await serve("127.0.0.1", port)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=8000)
    uvloop.run(_main(parser.parse_args().port))
