"""The upstream of a case, on a socket: every call gets the next answer, byte for byte."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from typing_extensions import override

from proxy.upstream.lane import Call, Lane, UpstreamReply
from tests.cases.case import Answer, End
from tests.fakes.upstream import Received, _read_request

# Between two pieces, so that they leave as two network chunks.
_PAUSE_SECONDS: Final = 0.002
_BEYOND: Final = Answer((b'{"error":{"message":"the case has no further answer"}}',), status=418)
_NO_METRICS: Final = Answer((b'{"detail":"Not Found"}',), status=404)


@dataclass(slots=True)
class UpstreamCall:
    """One call and what became of it. `sent_at`: Unix time of each piece. No request: refused."""

    answer: Answer
    received: Received | None = None
    sent_at: list[float] = field(default_factory=list)


class CaseUpstream:
    """Plays answers. A lone answer is given to every call."""

    def __init__(self, answers: Sequence[Answer], *, lone: bool) -> None:
        self.url = ""
        self.calls: list[UpstreamCall] = []
        self.open_connections = 0
        self._answers = itertools.repeat(answers[0]) if lone else iter(answers)
        self._next: Answer | None = None
        self._port = 0
        self._server: asyncio.Server | None = None

    def play_now(self, answer: Answer) -> None:
        """Give this answer to every further call."""
        self._answers = itertools.repeat(answer)
        self._next = None

    async def announce(self) -> None:
        """Told of a call before it is made: the port is open for it, or closed."""
        if self._next is None:
            self._next = next(self._answers, _BEYOND)
        if self._next.refuses:
            await self.close()
            self.calls.append(UpstreamCall(self._next))
            self._next = None
        elif self._server is None:
            await self.open()

    async def recover(self) -> None:
        """Told of a look: the port was closed for one call alone, so it is open again."""
        if self._server is None:
            await self.open()

    async def open(self) -> None:
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", self._port, limit=1 << 20
        )
        self._port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open_connections += 1
        received: Received | None = None
        try:
            received = await _read_request(reader)
            call = UpstreamCall(self._answer_for(received), received)
            if received.method == "POST":
                self.calls.append(call)
            await _play(call, received, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open_connections -= 1
            if received is not None:
                received.over.set()
            writer.close()

    def _answer_for(self, received: Received) -> Answer:
        if received.method != "POST":
            return _NO_METRICS
        answer = self._next or next(self._answers, _BEYOND)
        self._next = None
        return answer


async def _play(
    call: UpstreamCall,
    received: Received,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    gone = asyncio.ensure_future(reader.read(1))
    try:
        await _write(call, gone, writer)
        received.closed_early = gone.done()
    except ConnectionError:  # it was closed while we wrote
        received.closed_early = True
    finally:
        gone.cancel()


async def _write(
    call: UpstreamCall, gone: "asyncio.Future[bytes]", writer: asyncio.StreamWriter
) -> None:
    answer = call.answer
    if answer.silent:
        await gone
        return
    writer.write(_head(answer))
    chunked = _is_chunked(answer)
    for index, piece in enumerate(answer.pieces):
        delays = answer.delays_seconds
        delay = delays[index] if index < len(delays) else 0.0
        if index or delay:
            await asyncio.wait({gone}, timeout=max(delay, _PAUSE_SECONDS))
        if gone.done():
            return
        call.sent_at.append(time.time())
        writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked and piece else piece)
        await writer.drain()
    if answer.end is End.HANG:
        await gone
    elif chunked:
        writer.write(b"0\r\n\r\n")
        await writer.drain()


def _is_chunked(answer: Answer) -> bool:
    return answer.is_stream and answer.end is not End.EOF


def _head(answer: Answer) -> bytes:
    """A body has its length, a stream is chunked; with `eof` the connection's end is the end."""
    kind = "text/event-stream; charset=utf-8" if answer.is_stream else "application/json"
    named = {name.lower() for name, _ in answer.headers}
    lines = [f"HTTP/1.1 {answer.status} X", "connection: close"]
    if "content-type" not in named:
        lines.append(f"content-type: {kind}")
    if _is_chunked(answer):
        lines.append("transfer-encoding: chunked")
    elif answer.end is not End.EOF and "content-length" not in named:
        lines.append(f"content-length: {sum(map(len, answer.pieces))}")
    lines += [f"{name}: {value}" for name, value in answer.headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


@asynccontextmanager
async def case_upstream(answers: Sequence[Answer], *, lone: bool) -> AsyncIterator[CaseUpstream]:
    upstream = CaseUpstream(answers, lone=lone)
    await upstream.open()
    try:
        yield upstream
    finally:
        await upstream.close()


class AnnouncingLane(Lane):
    """The real lane; the upstream hears of each call first, since it cannot see a refused one."""

    def __init__(self, lane: Lane, upstream: CaseUpstream) -> None:
        self._lane = lane
        self._upstream = upstream

    @property
    @override
    def name(self) -> str:
        return self._lane.name

    @property
    @override
    def speaks_vllm(self) -> bool:
        return self._lane.speaks_vllm

    @override
    async def open(self, call: Call) -> UpstreamReply:
        if call.method == "POST":
            await self._upstream.announce()
        else:
            await self._upstream.recover()
        return await self._lane.open(call)

    @override
    async def close(self) -> None:
        await self._lane.close()


def json_of(call: UpstreamCall) -> Any:
    """The body of a call; None where the connection was refused."""
    return None if call.received is None else call.received.json
