"""The direct lane: HTTP to an OpenAI-compatible server over pooled connections. The hot path."""

import ssl
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from typing_extensions import override

from proxy.errors import BadReply, Fault, TimedOut, Unreachable, UpstreamError
from proxy.upstream.connection_pool import Address, ConnectionPool, Timeouts
from proxy.upstream.http_connection import Broken, ConnectionBroken, HttpConnection
from proxy.upstream.lane import Call, Lane, UpstreamReply
from proxy.upstream.reply_headers import end_to_end


class DirectLane(Lane):
    """Calls one server by HTTP. Must be made inside a running event loop.

    `url` may end in `/v1`, as clients write it. With a `key` the client's Authorization is replaced
    by it; without one it is passed on.
    """

    def __init__(
        self,
        name: str,
        url: str,
        timeouts: Timeouts,
        *,
        key: str | None = None,
        ca_file: Path | None = None,
    ) -> None:
        self._name = name
        self._timeouts = timeouts
        parts = urlsplit(url.rstrip("/").removesuffix("/v1"))
        self._base_path = parts.path.rstrip("/")
        self._fixed = f"host: {parts.netloc}\r\naccept-encoding: identity\r\n"
        self._has_key = key is not None
        if key is not None:
            self._fixed += f"authorization: Bearer {key}\r\n"
        tls, port = None, 80
        if parts.scheme == "https":
            tls, port = ssl.create_default_context(cafile=str(ca_file) if ca_file else None), 443
        address = Address(parts.hostname or "", parts.port or port, tls)
        self._pool = ConnectionPool(address, timeouts)

    @property
    @override
    def name(self) -> str:
        return self._name

    @property
    @override
    def speaks_vllm(self) -> bool:
        return True

    @override
    async def open(self, call: Call) -> UpstreamReply:
        head = self._head(call)
        try:
            connection = await self._pool.take()
        except (OSError, UnicodeError) as error:
            raise Unreachable(
                f"The upstream of lane `{self._name}` cannot be reached.", retry_after_seconds=2
            ) from error
        try:
            connection.send(head, call.body, self._timeouts.reply_seconds)
            await connection.head()
        except ConnectionBroken as error:
            self._pool.give_back(connection)
            raise self._before_reply(error.why) from error
        except BaseException:
            self._drop(connection)
            raise
        return DirectReply(connection, self._pool, self._timeouts)

    @override
    async def close(self) -> None:
        self._pool.close()

    def _drop(self, connection: HttpConnection) -> None:
        connection.close()
        self._pool.give_back(connection)

    def _head(self, call: Call) -> bytes:
        """The head of a request. Raises `BadReply` where a header would end its line."""
        lines = [
            f"{name}: {value}\r\n"
            for name, value in call.headers
            if not (self._has_key and name == "authorization")
        ]
        text = "".join(lines)
        if text.count("\n") != len(lines) or text.count("\r") != len(lines) or "\0" in text:
            raise BadReply("The request was not sent: a header holds a line end.")
        if call.body or call.method == "POST":
            text += f"content-length: {len(call.body)}\r\n"
        start = f"{call.method} {self._base_path}{call.path} HTTP/1.1\r\n"
        rest = f"{self._fixed}{text}\r\n"
        return start.encode("latin-1") + rest.encode("utf-8", "surrogateescape")

    def _before_reply(self, why: Broken) -> UpstreamError:
        if why is Broken.SILENT:
            seconds = self._timeouts.reply_seconds
            return TimedOut(f"The upstream did not begin its reply within {seconds:g} s.")
        if why is Broken.LOST:
            return BadReply("The upstream closed the connection before it replied.")
        return BadReply("The upstream answered with something that is not HTTP.")


class DirectReply:
    """One reply of a direct lane.

    Until the first piece its patience is `reply_seconds`: a long prompt may be prefilled for
    minutes after the headers of its stream were sent.
    """

    __slots__ = ("_connection", "_idle_seconds", "_pool", "headers", "is_stream", "status")

    def __init__(
        self, connection: HttpConnection, pool: ConnectionPool, timeouts: Timeouts
    ) -> None:
        self._connection = connection
        self._pool = pool
        self._idle_seconds = timeouts.idle_seconds
        self.status = connection.status
        kind, listed = "", []
        for name, value in connection.headers:
            if name == "content-type":
                kind = kind or value
            elif name == "connection":
                listed.append(value)
        self.is_stream = kind.lower().startswith("text/event-stream")
        self.headers = end_to_end(connection.headers, listed)

    @property
    def is_over(self) -> bool:
        return self._connection.is_complete

    async def chunk(self) -> bytes:
        connection = self._connection
        try:
            data = await connection.read()
        except ConnectionBroken as error:
            if error.why is Broken.SILENT:
                raise TimedOut(
                    f"The upstream sent nothing for {connection.patience_seconds:g} s.",
                    code=Fault.UPSTREAM_IDLE,
                ) from error
            raise BadReply("The upstream broke off in the middle of its reply.") from error
        connection.patience_seconds = self._idle_seconds
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.give_back(self._connection)
