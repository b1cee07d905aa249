"""What litellm answered, as the bytes of an OpenAI-compatible server. Does not import litellm."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Self

from proxy.errors import BadReply, Fault, TimedOut
from proxy.upstream.lane import Headers
from proxy.upstream.litellm_failure import read_failure

_EVENTS: Final = (("content-type", "text/event-stream; charset=utf-8"),)
_OK: Final = 200
_DONE: Final = b"data: [DONE]\n\n"


class Chunks:
    """litellm's stream as SSE events, each as bytes; empty bytes at the end."""

    __slots__ = ("_stream", "over")

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.over = False

    async def next_event(self) -> bytes:
        """The next event. Raises whatever litellm raises."""
        if self.over:
            return b""
        try:
            chunk = await anext(self._stream)
        except StopAsyncIteration:
            self.over = True
            return _DONE
        if self._invents_finish(chunk):
            await self.close()
            return b""
        return b"data: " + json_of(chunk) + b"\n\n"

    async def close(self) -> None:
        self.over = True
        await self._stream.aclose()

    def _invents_finish(self, chunk: Any) -> bool:
        """Whether litellm made up the `stop` of a stream that ended without a finish_reason."""
        return any(choice.finish_reason for choice in chunk.choices) and not any(
            getattr(self._stream, name, None)
            for name in (
                "received_finish_reason",
                "intermittent_finish_reason",
                "received_any_finish_reason",
            )
        )


class WholeReply:
    """A reply that is there already: a body, or an error."""

    __slots__ = ("_body", "headers", "is_stream", "status")

    def __init__(self, status: int, headers: Headers, body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.is_stream = False
        self._body = body

    @property
    def is_over(self) -> bool:
        return False

    async def chunk(self) -> bytes:
        body, self._body = self._body, b""
        return body

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None


class StreamedReply:
    """A reply whose chunks are still arriving; the first event is there.

    `drop` closes the chunks when the reply is left, without waiting for it.
    """

    __slots__ = ("_chunks", "_drop", "_first", "_idle_seconds", "headers", "is_stream", "status")

    def __init__(
        self, chunks: Chunks, first: bytes, idle_seconds: float, drop: Callable[[Chunks], None]
    ) -> None:
        self.status = _OK
        self.headers: Headers = _EVENTS
        self.is_stream = True
        self._chunks = chunks
        self._first = first
        self._idle_seconds = idle_seconds
        self._drop = drop

    @property
    def is_over(self) -> bool:
        return False

    async def chunk(self) -> bytes:
        if self._first:
            first, self._first = self._first, b""
            return first
        seconds = self._idle_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._chunks.next_event()
        except Exception as error:
            if isinstance(error, TimeoutError) or isinstance(read_failure(error), TimedOut):
                raise TimedOut(
                    f"The upstream sent nothing for {seconds:g} s.", code=Fault.UPSTREAM_IDLE
                ) from error
            raise BadReply("The upstream broke off in the middle of its reply.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._drop(self._chunks)


def json_of(document: Any) -> bytes:
    """The JSON of one of litellm's documents, members that it does not know itself included."""
    text: str = document.model_dump_json(warnings=False)
    return text.encode()
