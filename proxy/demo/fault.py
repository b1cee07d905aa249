"""The labelled fault of the tour: one byte changed between engine and gate."""

import re
from collections import deque
from types import TracebackType
from typing import Final, Self

from typing_extensions import override

from proxy.upstream.lane import Call, Headers, Lane, UpstreamReply

FAULT_HEADER: Final = "x-sluicegate-demo-fault"
FAULT_ONCE: Final = "once"

# The first brace inside a `content` string, in a JSON body as in a stream event.
_OPENING_BRACE: Final = re.compile(rb'"content"\s*:\s*"[^"{]*(\{)')
_CARRIED_BYTES: Final = 256
_REMEMBERED_REQUESTS: Final = 64


class FaultyLane(Lane):
    """A lane that breaks the first reply to each request with the header `x-sluicegate-demo-fault`.

    Requests are told apart by `x-request-id`. The header itself never reaches the upstream, and
    every other call passes unchanged.
    """

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._broken: deque[str] = deque(maxlen=_REMEMBERED_REQUESTS)

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
        headers = {name.lower(): value for name, value in call.headers}
        if headers.get(FAULT_HEADER) != FAULT_ONCE:
            return await self._lane.open(call)
        kept = [header for header in call.headers if header[0].lower() != FAULT_HEADER]
        reply = await self._lane.open(Call(call.method, call.path, kept, call.body))
        request_id = headers.get("x-request-id", "")
        if request_id in self._broken:
            return reply
        self._broken.append(request_id)
        return _FaultyReply(reply)

    @override
    async def close(self) -> None:
        await self._lane.close()


class BrokenBrace:
    """Turns the brace that opens the JSON of a reply into a bracket, wherever the bytes are cut."""

    def __init__(self) -> None:
        self._carried = b""
        self._done = False

    def change(self, piece: bytes) -> bytes:
        """The piece with at most one byte changed, and only in one piece of a reply."""
        if self._done:
            return piece
        start = len(self._carried)
        seen = self._carried + piece
        found = _OPENING_BRACE.search(seen)
        if found is None:
            self._carried = seen[-_CARRIED_BYTES:]
            return piece
        self._done = True
        place = found.start(1) - start
        return piece[:place] + b"[" + piece[place + 1 :]


class _FaultyReply(UpstreamReply):
    def __init__(self, reply: UpstreamReply) -> None:
        self._reply = reply
        self._fault = BrokenBrace()

    @property
    @override
    def status(self) -> int:
        return self._reply.status

    @property
    @override
    def headers(self) -> Headers:
        return self._reply.headers

    @property
    @override
    def is_stream(self) -> bool:
        return self._reply.is_stream

    @property
    @override
    def is_over(self) -> bool:
        return self._reply.is_over

    @override
    async def chunk(self) -> bytes:
        return self._fault.change(await self._reply.chunk())

    @override
    def __enter__(self) -> Self:
        self._reply.__enter__()
        return self

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._reply.__exit__(kind, error, trace)
