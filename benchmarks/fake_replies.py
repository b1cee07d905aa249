"""What the fake upstream answers to a request, as bytes of HTTP/1.1; no sockets here."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import contents

STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nserver: uvicorn\r\n"
    b"content-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
)
STREAM_END = b"0\r\n\r\n"

_PACE_HEADER = re.compile(rb"\r\nx-pace-ms: *(\d+)", re.IGNORECASE)
_PACE_MARK = re.compile(rb"pace-ms=(\d+)")
_ITEMS_MARK = re.compile(rb"document-items=(\d+)")
_EVENTS_MARK = re.compile(rb"stream-events=(\d+)")
_PROSE_MARK = b"answer-in-prose"
_STREAM = re.compile(rb'"stream"\s*:\s*true')
_INCLUDE_USAGE = re.compile(rb'"include_usage"\s*:\s*true')
_MAX_TOKENS = re.compile(rb'"max_tokens"\s*:\s*(\d+)')
_REQUIRED = re.compile(rb'"tool_choice"\s*:\s*"required"')
_FORMAT = b'"response_format"'


@dataclass(frozen=True, slots=True)
class Arrived:
    """One request, read only as far as the reply depends on it; `at` is CLOCK_MONOTONIC, in ns."""

    line: bytes
    head: bytes
    body: bytes
    at: int = 0

    @property
    def wants_stream(self) -> bool:
        return _STREAM.search(self.body) is not None

    @property
    def wants_usage(self) -> bool:
        return _INCLUDE_USAGE.search(self.body) is not None

    @property
    def wants_call(self) -> bool:
        return _REQUIRED.search(self.body) is not None

    @property
    def wants_document(self) -> bool:
        return _FORMAT in self.body and _PROSE_MARK not in self.body

    @property
    def pace_seconds(self) -> float:
        found = _PACE_HEADER.search(self.head) or _PACE_MARK.search(self.body)
        return int(found[1]) / 1000 if found else 0.0

    @property
    def items(self) -> int:
        found = _ITEMS_MARK.search(self.body)
        return int(found[1]) if found else contents.ITEMS

    @property
    def events(self) -> int:
        found = _EVENTS_MARK.search(self.body)
        return int(found[1]) if found else contents.STREAM_TOKENS

    @property
    def limit(self) -> int:
        """The most tokens of its reply."""
        found = _MAX_TOKENS.search(self.body)
        return int(found[1]) if found else self.events


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


# What a reply is made of: kind, items of its document, events of its stream.
_Made = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Replies:
    """Replies rendered once, whole and as HTTP chunks: equal requests get the same bytes."""

    counters: Counters
    whole_replies: dict[_Made, bytes] = field(default_factory=dict)
    token_chunks: dict[_Made, list[bytes]] = field(default_factory=dict)
    role: bytes = field(default_factory=lambda: chunk(contents.role_event()))
    call_begin: bytes = field(default_factory=lambda: chunk(contents.call_begin_event()))

    def whole(self, arrived: Arrived) -> bytes:
        self.counters.successes += 1
        self.counters.generation_tokens += contents.REPLY_TOKENS
        made = (_kind(arrived), arrived.items, 0)
        if made not in self.whole_replies:
            self.whole_replies[made] = json_reply(_whole_reply(arrived))
        return self.whole_replies[made]

    def chunks(self, arrived: Arrived) -> Iterator[bytes]:
        """The chunks of one stream; those of a paced one are made when they are due."""
        limit = min(arrived.limit, arrived.events)
        yield self.role
        if arrived.wants_call:
            yield self.call_begin
        if arrived.pace_seconds:
            for _ in range(limit):
                self.counters.generation_tokens += 1
                stamp = f"@{time.monotonic_ns()},{arrived.at};"
                yield chunk(contents.token_event(stamp))
        else:
            for token in self._tokens(arrived)[:limit]:
                self.counters.generation_tokens += 1
                yield token
        reason = "tool_calls" if arrived.wants_call else "stop"
        cut = limit < arrived.events
        yield chunk(contents.finish_event("length" if cut else reason))
        if arrived.wants_usage:
            yield chunk(contents.usage_event(limit))
        self.counters.successes += 1
        yield chunk(b"data: [DONE]\n\n") + STREAM_END

    def _tokens(self, arrived: Arrived) -> list[bytes]:
        made = (_kind(arrived), arrived.items, arrived.events)
        if made not in self.token_chunks:
            event = contents.call_event if arrived.wants_call else contents.token_event
            self.token_chunks[made] = _token_chunks(event, _pieces(arrived))
        return self.token_chunks[made]


def json_reply(body: bytes, status: bytes = b"200 OK") -> bytes:
    return whole_reply(body, status, b"application/json")


def whole_reply(body: bytes, status: bytes, content_type: bytes) -> bytes:
    head = b"HTTP/1.1 %b\r\nserver: uvicorn\r\ncontent-type: %b\r\ncontent-length: %d\r\n\r\n"
    return head % (status, content_type, len(body)) + body


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _token_chunks(event: Callable[[str], bytes], pieces: list[str]) -> list[bytes]:
    return [chunk(event(piece)) for piece in pieces]


def _kind(arrived: Arrived) -> str:
    if arrived.wants_call:
        return "call"
    return "document" if arrived.wants_document else "text"


def _whole_reply(arrived: Arrived) -> bytes:
    if arrived.wants_call:
        return contents.call_completion(contents.document(arrived.items))
    content = contents.document(arrived.items) if arrived.wants_document else contents.TEXT
    return contents.completion(content)


def _pieces(arrived: Arrived) -> list[str]:
    if arrived.wants_call or arrived.wants_document:
        return contents.pieces(contents.document(arrived.items), arrived.events)
    return contents.text_pieces(arrived.events)
