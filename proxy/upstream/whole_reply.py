"""A reply that is there already: for lanes that answer from memory."""

from types import TracebackType
from typing import Self

from typing_extensions import override

from proxy.upstream.lane import Headers, UpstreamReply


class WholeReply(UpstreamReply):
    """A JSON reply in one piece."""

    def __init__(self, status: int, body: bytes) -> None:
        self._status = status
        self._body = body

    @property
    @override
    def status(self) -> int:
        return self._status

    @property
    @override
    def headers(self) -> Headers:
        return [("content-type", "application/json")]

    @property
    @override
    def is_stream(self) -> bool:
        return False

    @property
    @override
    def is_over(self) -> bool:
        return not self._body

    @override
    async def chunk(self) -> bytes:
        body, self._body = self._body, b""
        return body

    @override
    def __enter__(self) -> Self:
        return self

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None
