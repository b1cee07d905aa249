"""Server-sent events as bytes: cut a stream into events, and write events."""

import re

import msgspec

DONE = b"data: [DONE]\n\n"

_BOM = b"\xef\xbb\xbf"
_LINE_END = rb"(?:\r\n|\n|\r(?=[^\n]))"  # a last CR is none yet: an LF may follow
_BLANK_LINE = re.compile(_LINE_END)
_EVENT_END = re.compile(_LINE_END * 2)
_ANY_LINE_END = re.compile(rb"\r\n|\n|\r")
_LONGEST_PARTIAL_END = 3  # CR LF CR, before its LF or the next line's first byte


class Event(msgspec.Struct, frozen=True, gc=False):
    """One block of a stream up to and including its blank line.

    `raw` is exactly what was received. `data` is None for a block without a data line (comments,
    ids, or a blank line alone). `cut` marks a leftover whose blank line never came.
    """

    raw: bytes
    data: bytes | None
    name: bytes = b""
    cut: bool = False


class EventTooLarge(ValueError):
    """One event exceeds the limit; the parser is of no use afterwards."""


class SseParser:
    """Cuts a byte stream into events by the rules of WHATWG's event streams.

    How the stream is split into chunks changes nothing: the raws always join to the input. A blank
    line that ends nothing is an event of its own without data, so no byte waits for a later event.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._buffer = bytearray()
        self._searched = 0
        self._only_lf = True
        self._at_start = True

    def feed(self, chunk: bytes) -> list[Event]:
        """Take the next bytes and return the events they complete.

        Raises `EventTooLarge` as soon as one event, complete or not, exceeds the limit.
        """
        if not self._buffer and chunk.startswith(b"data: ") and chunk.endswith(b"\n\n"):
            # One event of one line, which nearly all chunks are.
            size = len(chunk)
            if chunk.find(b"\n") == size - 2 and b"\r" not in chunk and size <= self._limit_bytes:
                self._at_start = False
                return [Event(chunk, chunk[6:-2])]
            if events := self._plain_events(chunk):
                self._at_start = False
                return events
        if self._only_lf and b"\r" in chunk:
            self._only_lf = False
        self._buffer += chunk
        return self._take_events()

    def finish(self) -> list[Event]:
        """Return the leftover of an ended stream.

        Its data is read although it is cut: servers end with `data: [DONE]` and one line end.
        """
        if not self._buffer:
            return []
        raw = bytes(self._buffer)
        self._buffer.clear()
        is_whole = raw == b"\r" or raw.endswith((b"\r\r", b"\n\r"))
        return [self._event(raw, cut=not is_whole)]

    def _plain_events(self, chunk: bytes) -> list[Event]:
        """The events of a chunk of nothing but whole events of one line; else nothing."""
        if b"\r" in chunk:
            return []
        lines = chunk[:-2].split(b"\n\n")
        longest = self._limit_bytes - 2
        for line in lines:
            if not line.startswith(b"data: ") or b"\n" in line or len(line) > longest:
                return []
        return [Event(line + b"\n\n", line[6:]) for line in lines]

    def _take_events(self) -> list[Event]:
        events: list[Event] = []
        start = 0
        while (end := self._end_of_event(start)) > 0:
            self._check_size(end - start)
            events.append(self._event(bytes(self._buffer[start:end])))
            start = self._searched = end
        del self._buffer[:start]
        self._check_size(len(self._buffer))
        self._searched = max(0, len(self._buffer) - _LONGEST_PARTIAL_END)
        return events

    def _end_of_event(self, start: int) -> int:
        """The position after the event that begins at `start`; 0 while it is incomplete."""
        if self._only_lf:
            if self._buffer.startswith(b"\n", start):
                return start + 1
            blank = self._buffer.find(b"\n\n", self._searched)
            return blank + 2 if blank >= 0 else 0
        match = _BLANK_LINE.match(self._buffer, start)
        if match is None:
            match = _EVENT_END.search(self._buffer, self._searched)
        return match.end() if match else 0

    def _check_size(self, size: int) -> None:
        if size > self._limit_bytes:
            raise EventTooLarge(f"One event exceeds {self._limit_bytes} bytes.")

    def _event(self, raw: bytes, *, cut: bool = False) -> Event:
        text = raw.removeprefix(_BOM) if self._at_start else raw
        self._at_start = False
        data: list[bytes] = []
        name = b""
        for line in text.splitlines():
            field, _, value = line.partition(b":")
            if field == b"data":
                data.append(value.removeprefix(b" "))
            elif field == b"event":
                name = value.removeprefix(b" ")
        return Event(raw, b"\n".join(data) if data else None, name, cut)


def event(data: bytes, name: bytes = b"") -> bytes:
    """One event; data of several lines becomes several data lines."""
    head = b"event: " + name + b"\n" if name else b""
    return head + b"data: " + b"\ndata: ".join(_ANY_LINE_END.split(data)) + b"\n\n"


def comment(text: str) -> bytes:
    """A comment block, which clients pass over; several lines stay comments."""
    return b": " + b"\n: ".join(_ANY_LINE_END.split(text.encode())) + b"\n\n"
