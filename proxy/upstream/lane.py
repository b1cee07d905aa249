"""The seam to a server that we call: a lane carries one call and hands back bytes."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an upstream. `path` is the target as the client spelled it, query included."""

    method: str
    path: str
    headers: Headers
    body: bytes = b""


class UpstreamReply(Protocol):
    """A reply that is still arriving. Leaving the `with` block drops what has not been read."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Headers:
        """Names in lower case, hop-by-hop headers already dropped."""
        ...

    @property
    def is_stream(self) -> bool:
        """Whether the body is an event stream."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether all of the body has been handed out; false where that is not known yet."""
        ...

    async def chunk(self) -> bytes:
        """The next bytes as they arrive; empty at the end of the body.

        Raises `TimedOut` when the upstream falls silent, `BadReply` when it breaks off.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Lane(Protocol):
    """A named upstream."""

    @property
    def name(self) -> str: ...

    @property
    def speaks_vllm(self) -> bool:
        """Whether requests may carry vLLM's own members beside OpenAI's."""
        ...

    async def open(self, call: Call) -> UpstreamReply:
        """Send a call and wait for status and headers: `with await lane.open(call) as reply:`.

        Raises `Unreachable` when no connection came about, `TimedOut` and `BadReply` after that.
        """
        ...

    async def close(self) -> None: ...
