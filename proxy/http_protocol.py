"""HTTP/1.1 on a listener, with a bound on the head of a request: its request line and headers.

uvicorn has none, and its parser takes time quadratic in the length of a header that comes in many
pieces: one client could stop the event loop for everybody.
"""

import asyncio
from typing import Any, ClassVar, cast

from typing_extensions import override
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from proxy.errors import RequestError
from proxy.http_transport import HeadWithBody


class HeadTooLarge(RequestError):
    """The head of a request, or what follows a chunked body, exceeds the protocol's bound."""

    status = 431
    default_code = "headers_too_large"


class BoundedHeadProtocol(HttpToolsProtocol):
    """Refuses a head that is too large, and closes a connection whose head does not end.

    Trailers of a chunked body count like a head. A head that comes in the same piece as the end
    of the request before it counts from the next piece on.
    """

    head_bytes: ClassVar[int] = 64 * 1024
    # From the connection's start, or from the first piece of a further head.
    head_seconds: ClassVar[float] = 30.0
    # A client that still sends must be read for a while: closing at once would reset the
    # connection, and the reply would be lost with it.
    linger_seconds: ClassVar[float] = 1.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._in_head = True
        self._received = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._refused = False

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        whole = cast("asyncio.Transport", HeadWithBody(transport, self.loop))
        super().connection_made(whole)
        self._close_after(self.head_seconds)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._drop_deadline()
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        if not self._in_head:
            super().data_received(data)
        elif not self._refused:
            self._receive_head(data)

    @override
    def on_headers_complete(self) -> None:
        self._in_head = False
        self._drop_deadline()
        super().on_headers_complete()

    def on_chunk_header(self) -> None:
        """Count as if trailers came now; the parser does not say whether the chunk is the last."""
        self._in_head = True
        self._received = 0

    @override
    def on_body(self, body: bytes) -> None:
        self._in_head = False
        super().on_body(body)

    @override
    def on_message_complete(self) -> None:
        self._in_head = True
        self._received = 0
        self._drop_deadline()
        super().on_message_complete()

    def _receive_head(self, data: bytes) -> None:
        """Feed the parser no more than the bound allows until the head is complete."""
        room = self.head_bytes - self._received
        self._received += len(data)
        if len(data) <= room:
            super().data_received(data)
        else:
            super().data_received(data[:room])
            if self.transport.is_closing():
                return
            if self._in_head and self._received:
                self._refuse()
                return
            super().data_received(data[room:])
        if self._in_head and self._received and self._deadline is None:
            self._close_after(self.head_seconds)

    def _refuse(self) -> None:
        if self._is_replying():
            # The reply to an earlier request is under way; nothing may be written into it.
            self.transport.close()
            return
        self._refused = True
        self.transport.write(_refusal(self.head_bytes))
        self.transport.write_eof()
        self._close_after(self.linger_seconds)

    def _close_after(self, seconds: float) -> None:
        self._drop_deadline()
        self._deadline = self.loop.call_later(seconds, self._close_unless_replying)

    def _close_unless_replying(self) -> None:
        if self._is_replying():
            self._close_after(self.head_seconds)
        else:
            self.transport.close()

    def _drop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _is_replying(self) -> bool:
        # None before the first request, whatever uvicorn's annotation says.
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is not None and not cycle.response_complete


def _refusal(head_bytes: int) -> bytes:
    error = HeadTooLarge(f"Request line and headers exceed {head_bytes} bytes.")
    body = error.body()
    head = (
        f"HTTP/1.1 {error.status} Request Header Fields Too Large\r\n"
        "content-type: application/json\r\n"
        f"content-length: {len(body)}\r\n"
        "connection: close\r\n\r\n"
    )
    return head.encode() + body
