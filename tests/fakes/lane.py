"""A lane without sockets: each call gets the next reply of a script, or an error."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from typing_extensions import override

from proxy.errors import UpstreamError
from proxy.upstream.lane import Call, Headers, Lane, UpstreamReply
from tests.fakes.upstream import Scripted


@dataclass
class FakeReply(UpstreamReply):
    """Pieces, then the end: of the body, an `error`, or with `hangs` never."""

    pieces: Sequence[bytes] = ()
    status: int = 200
    headers: Headers = (("content-type", "application/json"),)
    is_stream: bool = False
    error: UpstreamError | None = None
    hangs: bool = False
    opened: int = 0
    closed: int = 0
    taken: int = 0

    @property
    @override
    def is_over(self) -> bool:
        return False

    @override
    async def chunk(self) -> bytes:
        await asyncio.sleep(0)
        if self.taken < len(self.pieces):
            self.taken += 1
            return self.pieces[self.taken - 1]
        if self.hangs:
            await asyncio.get_running_loop().create_future()
        if self.error is not None:
            raise self.error
        return b""

    @override
    def __enter__(self) -> Self:
        self.opened += 1
        return self

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closed += 1


def replying(scripted: Scripted, error: UpstreamError | None = None) -> FakeReply:
    """What a socket's script would answer."""
    return FakeReply(
        tuple(scripted.pieces),
        scripted.status,
        (("content-type", scripted.content_type), *scripted.headers),
        scripted.content_type.startswith("text/event-stream"),
        error,
    )


@dataclass
class FakeLane(Lane):
    """`script`: replies, or errors that `open` raises; a call beyond it fails the test."""

    script: list[FakeReply | UpstreamError] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    replies: list[FakeReply] = field(default_factory=list)
    name: str = "main"
    speaks_vllm: bool = True

    @override
    async def open(self, call: Call) -> UpstreamReply:
        self.calls.append(call)
        await asyncio.sleep(0)
        answer = self.script.pop(0)
        if isinstance(answer, UpstreamError):
            raise answer
        self.replies.append(answer)
        return answer

    @override
    async def close(self) -> None:
        return None
