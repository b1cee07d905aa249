"""ASGI on one side, bytes and values on the other: reading a body, writing a reply."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final

from proxy.errors import BodyTooLarge
from proxy.upstream.lane import Headers

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
RawHeaders = Iterable[tuple[bytes, bytes]]

# RFC 9110 section 7.6.1, and what belongs to this hop: sizes, encodings, our own headers.
_NOT_FORWARDED: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        b"host",
        b"content-length",
        b"expect",
        b"accept-encoding",
        b"x-request-id",
        b"x-sluicegate-policy",
        b"x-sluicegate-attempt",
    }
)
_KEY_HEADERS: Final = frozenset({b"authorization", b"x-api-key", b"api-key"})


class ClientGone(Exception):
    """The client left before its request was complete."""


def header(headers: RawHeaders, name: bytes) -> str | None:
    """The first value of a header; names are lower case in ASGI."""
    for key, value in headers:
        if key == name:
            return value.decode("latin-1")
    return None


def forwarded_headers(headers: RawHeaders, request_id: str, *, with_key: bool) -> Headers:
    """What goes upstream: end-to-end headers only, and never a key that is ours."""
    named = header(headers, b"connection") or ""
    listed = {token.strip().lower().encode("latin-1") for token in named.split(",")}
    kept = [
        (key.decode("latin-1"), _text(value))
        for key, value in headers
        if key not in _NOT_FORWARDED and key not in listed and (with_key or key not in _KEY_HEADERS)
    ]
    kept.append(("x-request-id", request_id))
    return kept


def _text(value: bytes) -> str:
    """What the HTTP client will write as the same bytes; only text that is not UTF-8 changes."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


async def read_body(receive: Receive, headers: RawHeaders, *, limit_bytes: int) -> bytes:
    """Read the body. Raises `BodyTooLarge`, `ClientGone`."""
    length = header(headers, b"content-length")
    if length is not None and length.isdigit() and int(length) > limit_bytes:
        raise _too_large(limit_bytes)
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size > limit_bytes:
            raise _too_large(limit_bytes)
        pieces.append(piece)
        if not message.get("more_body", False):
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _too_large(limit_bytes: int) -> BodyTooLarge:
    return BodyTooLarge(
        f"The body exceeds {limit_bytes} bytes; the limit is the setting limits.request_bytes."
    )


class AsgiClient:
    """Writes one HTTP reply. Every reply carries the request id.

    `started` and `ended` say what has been written, so a write that failed can be followed by
    an error. `is_writing`, `writes`: whether a write waits for the client, and how many are done.
    """

    __slots__ = ("_request_id", "_send", "ended", "is_writing", "started", "writes")

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id.encode("latin-1")
        self.started = False
        self.ended = False
        self.is_writing = False
        self.writes = 0

    async def start(self, status: int, headers: Headers) -> None:
        await self._send(self._head(status, headers, None))
        self.started = True

    async def send(self, data: bytes) -> None:
        self.is_writing = True
        await self._send({"type": "http.response.body", "body": data, "more_body": True})
        self.is_writing = False
        self.writes += 1

    async def end(self, data: bytes = b"") -> None:
        self.is_writing = True
        await self._send({"type": "http.response.body", "body": data, "more_body": False})
        self.is_writing = False
        self.writes += 1
        self.ended = True

    async def reply(self, status: int, headers: Headers, body: bytes) -> None:
        await self._send(self._head(status, headers, len(body)))
        self.started = True
        await self.end(body)

    def _head(self, status: int, headers: Headers, length: int | None) -> Message:
        encoded = [
            (name.encode("latin-1"), value.encode("utf-8", "surrogateescape"))
            for name, value in headers
            if name != "x-request-id"
        ]
        encoded.append((b"x-request-id", self._request_id))
        if length is not None:
            encoded.append((b"content-length", str(length).encode()))
        return {"type": "http.response.start", "status": status, "headers": encoded}
