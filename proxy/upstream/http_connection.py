"""One HTTP/1.1 connection to an upstream, which carries one exchange after the other.

httptools (llhttp) reads the replies; writing a request, waiting and the bounds are here. General
HTTP clients spend more time on one reply than all the rest of a relayed request takes.
"""

import asyncio
from enum import StrEnum
from typing import Final, cast

import httptools
from typing_extensions import override

# Names in lower case. Values as text in which bytes that are no UTF-8 are surrogates.
RawHeaders = list[tuple[str, str]]

# A reply whose head is larger is none that a server of ours sends.
HEAD_BYTES: Final = 64 * 1024
# Beyond it the upstream has to wait until the client has taken what came.
_BUFFERED_BYTES: Final = 256 * 1024
# A body of this size is not copied to be sent together with its head.
_LARGE_BYTES: Final = 64 * 1024
_FINAL: Final = 200


class Broken(StrEnum):
    """What has become of a connection during an exchange."""

    LOST = "lost"
    NOT_HTTP = "not_http"
    SILENT = "silent"


class ConnectionBroken(Exception):
    """The exchange cannot go on."""

    def __init__(self, why: Broken) -> None:
        super().__init__(why)
        self.why = why


class HttpConnection(asyncio.Protocol):
    """`send`, then `head` once, then `read` until it returns nothing; again if `is_reusable`.

    `silent_seconds` grows by `tick` while something is waited for; the owner breaks a connection
    that has been silent for longer than `patience_seconds`.
    """

    __slots__ = (
        "_head_bytes",
        "_is_complete",
        "_is_framed",
        "_is_paused",
        "_keeps_alive",
        "_loop",
        "_parser",
        "_pieces",
        "_size",
        "_transport",
        "_waiter",
        "_why_broken",
        "headers",
        "patience_seconds",
        "silent_seconds",
        "status",
    )

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        # Control characters in a value are the reader's to replace (RFC 9110 section 5.5).
        self._parser.set_dangerous_leniencies(lenient_headers=True)
        self._pieces: list[bytes] = []
        self._size = 0
        self._head_bytes = 0
        self._is_framed = False
        self._is_complete = True
        self._is_paused = False
        self._keeps_alive = False
        self._waiter: asyncio.Future[None] | None = None
        self._why_broken: Broken | None = None
        self.status = 0
        self.headers: RawHeaders = []
        self.silent_seconds = 0.0
        self.patience_seconds = 0.0

    @property
    def is_complete(self) -> bool:
        """Whether all of the body has been handed out."""
        return self._is_complete and not self._pieces

    @property
    def is_reusable(self) -> bool:
        """Whether another exchange may follow: this one is over, and both sides keep the line."""
        transport = self._transport
        return (
            self._is_complete
            and not self._is_paused
            and self._why_broken is None
            and transport is not None
            and not transport.is_closing()
            and not transport.get_write_buffer_size()
            and self._keeps_alive
        )

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def send(self, head: bytes, body: bytes, patience_seconds: float) -> None:
        """Begin an exchange; its reply must begin within `patience_seconds`."""
        self.status = 0
        self.headers = []
        self._pieces.clear()
        self._size = self._head_bytes = 0
        self._is_framed = self._is_complete = False
        self.silent_seconds = 0.0
        self.patience_seconds = patience_seconds
        transport = self._transport
        if transport is None:
            self._break(Broken.LOST)
        elif len(body) > _LARGE_BYTES:
            transport.write(head)
            transport.write(body)
        else:
            transport.write(head + body)

    async def head(self) -> None:
        """Wait until `status` and `headers` are there. Raises `ConnectionBroken`."""
        while not self.status:
            await self._change()

    async def read(self) -> bytes:
        """The next bytes of the body, nothing at its end. Raises `ConnectionBroken`."""
        pieces = self._pieces
        while not pieces:
            if self._is_complete:
                return b""
            await self._change()
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        self._size = 0
        if self._is_paused and self._transport is not None:
            self._is_paused = False
            self._transport.resume_reading()
        return data

    def tick(self, seconds: float) -> None:
        """Note that time has passed; break the exchange when it was silent for too long.

        Time in which nobody waits is not the upstream's silence: then it is we who do not read.
        """
        if self._waiter is None:
            return
        if self.silent_seconds >= self.patience_seconds:
            self._break(Broken.SILENT)
        self.silent_seconds += seconds

    def close(self) -> None:
        """Drop the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    async def _change(self) -> None:
        """Wait until something has arrived, or raise what has broken."""
        if self._why_broken is not None:
            raise ConnectionBroken(self._why_broken)
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        self.silent_seconds = 0.0
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _break(self, why: Broken) -> None:
        if self._why_broken is None:
            self._why_broken = why
        self.close()
        self._wake()

    # What the transport tells.

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's does not derive from it

    @override
    def data_received(self, data: bytes) -> None:
        if self._is_complete:  # nobody asked for this
            self._break(Broken.NOT_HTTP)
            return
        if not self.status:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._break(Broken.NOT_HTTP)
            return
        if not self.status and self._head_bytes > HEAD_BYTES:
            self._break(Broken.NOT_HTTP)
            return
        if self._size > _BUFFERED_BYTES and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self.status and not self._is_framed and exc is None and self._why_broken is None:
            self._is_complete = True  # a body without a length ends with its connection
        if not self._is_complete and self._why_broken is None:
            self._why_broken = Broken.LOST
        self._wake()

    # What the parser tells.

    def on_message_begin(self) -> None:
        """A reply begins; after a complete one it is a second that nobody asked for."""
        if self._is_complete:
            self._why_broken = Broken.NOT_HTTP

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.status:  # a trailer
            return
        key = name.decode("latin-1").lower()
        if key == "content-length" or (key == "transfer-encoding" and b"chunked" in value.lower()):
            self._is_framed = True
        self.headers.append((key, value.decode("utf-8", "surrogateescape")))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < _FINAL or self._is_complete:
            return
        if self._head_bytes > HEAD_BYTES and _size(self.headers) > HEAD_BYTES:
            self._break(Broken.NOT_HTTP)
            return
        self.status = status
        self._keeps_alive = self._parser.should_keep_alive()

    def on_body(self, data: bytes) -> None:
        if not self._is_complete:
            self._pieces.append(data)
            self._size += len(data)

    def on_message_complete(self) -> None:
        if self.status:
            self._is_complete = True
        else:  # an interim reply, such as 103
            self.headers = []
            self._is_framed = False


def _size(headers: RawHeaders) -> int:
    return sum(len(name) + len(value) for name, value in headers)
