"""A scripted upstream on a socket: each POST gets the next reply of its script, byte for byte."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any


class End(Enum):
    """What the upstream does after the last byte of a reply."""

    COMPLETE = auto()
    CUT = auto()
    HANG = auto()


@dataclass(frozen=True)
class Scripted:
    """One reply: pieces are written one by one, each after `pause_seconds`."""

    pieces: Sequence[bytes]
    status: int = 200
    headers: Sequence[tuple[str, str]] = ()
    content_type: str = "application/json"
    end: End = End.COMPLETE
    pause_seconds: float = 0.0
    raw: bytes | None = None


@dataclass
class Received:
    """One request as it arrived. `closed_early`: the caller hung up before the reply was over.

    `written`: pieces of the reply that the caller, or the buffers on the way, have taken.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    closed_early: bool = False
    written: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class FakeUpstream:
    """What the upstream was asked, and what it will say. GETs other than scripted ones get 404."""

    url: str = ""
    script: list[Scripted] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    pages: dict[str, Scripted] = field(default_factory=dict)
    server: asyncio.Server | None = None
    port: int = 0

    async def listen(self) -> None:
        """Take connections, after `refuse` at the same port again."""
        self.server = await asyncio.start_server(self.handle, "127.0.0.1", self.port, limit=1 << 20)
        self.port = self.server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    async def refuse(self) -> None:
        """Close the port: whoever calls is refused."""
        if self.server is not None:
            self.server.close()

    @property
    def calls(self) -> list[Received]:
        """The POSTs."""
        return [received for received in self.received if received.method == "POST"]

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            received = await _read_request(reader)
            self.received.append(received)
            await self._answer(received, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(
        self, received: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        scripted = self._next(received)
        gone = asyncio.ensure_future(reader.read(1))
        try:
            await self._write(scripted, received, gone, writer)
        finally:
            received.closed_early = gone.done()
            gone.cancel()
            received.over.set()

    async def _write(
        self,
        scripted: Scripted,
        received: Received,
        gone: "asyncio.Future[bytes]",
        writer: asyncio.StreamWriter,
    ) -> None:
        if scripted.raw is not None:
            writer.write(scripted.raw)
            await writer.drain()
            return
        writer.write(_head(scripted))
        for piece in scripted.pieces:
            if scripted.pause_seconds:
                await asyncio.wait({gone}, timeout=scripted.pause_seconds)
            if gone.done():
                return
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
            received.written += 1
            await asyncio.sleep(0)
        if scripted.end is End.HANG:
            await gone
            return
        if scripted.end is End.CUT:
            return
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    def _next(self, received: Received) -> Scripted:
        page = self.pages.get(received.path)
        if received.method == "GET":
            return page or Scripted((b'{"detail":"Not Found"}',), status=404)
        if not self.script:
            return Scripted((b'{"error":{"message":"script is empty"}}',), status=418)
        return self.script.pop(0)


async def _read_request(reader: asyncio.StreamReader) -> Received:
    head = await reader.readuntil(b"\r\n\r\n")
    request_line, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, path, _ = request_line.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, body)


def _head(scripted: Scripted) -> bytes:
    lines = [
        f"HTTP/1.1 {scripted.status} X",
        f"content-type: {scripted.content_type}",
        "transfer-encoding: chunked",
        "connection: close",
        *(f"{name}: {value}" for name, value in scripted.headers),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


@asynccontextmanager
async def fake_upstream(*script: Scripted) -> AsyncIterator[FakeUpstream]:
    upstream = FakeUpstream(script=list(script))
    await upstream.listen()
    try:
        yield upstream
    finally:
        await upstream.refuse()
        for received in upstream.received:
            received.over.set()


def completion(
    content: str | None = "Hello.",
    *,
    finish_reason: str = "stop",
    message: dict[str, Any] | None = None,
    usage: tuple[int, int] | None = (9, 3),
) -> Scripted:
    """A chat completion that is not streamed."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content} | (message or {}),
        "logprobs": None,
        "finish_reason": finish_reason,
    }
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1770000000,
        "model": "tiny",
        "choices": [choice],
    }
    if usage:
        body["usage"] = _usage(usage)
    return Scripted((json.dumps(body).encode(),))


def stream(
    pieces: Iterable[str],
    *,
    finish_reason: str | None = "stop",
    usage: tuple[int, int] | None = (9, 3),
    done: bool = True,
    key: str = "content",
    end: End = End.COMPLETE,
    pause_seconds: float = 0.0,
) -> Scripted:
    """A chat stream in vLLM's spelling: role, pieces, finish, usage where given, `[DONE]`."""
    events = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({key: piece}) for piece in pieces]
    if finish_reason:
        events.append(chunk({}, finish_reason))
    if usage:
        events.append(_event({"id": "chatcmpl-1", "choices": [], "usage": _usage(usage)}))
    if done:
        events.append(b"data: [DONE]\n\n")
    return Scripted(
        events,
        content_type="text/event-stream; charset=utf-8",
        end=end,
        pause_seconds=pause_seconds,
    )


def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return _event(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1770000000,
            "model": "tiny",
            "choices": [choice],
        }
    )


def _event(document: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(document, separators=(",", ":")).encode() + b"\n\n"


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    prompt, completion_tokens = usage
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt + completion_tokens,
    }
