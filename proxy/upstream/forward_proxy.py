"""The direct lane's twin for upstreams that are reached through a forward proxy.

Used where the settings say `trust_env: true`. aiohttp knows what HTTP_PROXY, HTTPS_PROXY and
NO_PROXY mean; it is slower than the direct lane's own connections.
"""

import asyncio
import io
import ssl
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import aiohttp
from typing_extensions import override
from yarl import URL

from proxy.errors import BadReply, Fault, TimedOut, Unreachable, UpstreamError
from proxy.upstream.connection_pool import Timeouts
from proxy.upstream.lane import Call, Headers, Lane, UpstreamReply
from proxy.upstream.reply_headers import end_to_end

# aiohttp warns that bytes of a mebibyte and more block the loop while they are written.
_LARGE_BODY_BYTES: Final = 1 << 20
# vLLM closes idle connections after 5 s; a pooled one must be gone before.
_KEEP_ALIVE_SECONDS: Final = 4.0
# How often a silent reply is looked at: the HTTP client does not tell of a broken chunk.
_LOOK_SECONDS: Final = 1.0
_LOOKS: Final = 10


class ForwardProxyLane(Lane):
    """Calls one server by HTTP, as the environment's proxies want it.

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
        self._base = URL(url.rstrip("/").removesuffix("/v1"))
        self._timeouts = timeouts
        self._authorization = f"Bearer {key}" if key else None
        tls = ssl.create_default_context(cafile=str(ca_file)) if ca_file else True
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, ssl=tls, keepalive_timeout=_KEEP_ALIVE_SECONDS, ttl_dns_cache=10
            ),
            timeout=aiohttp.ClientTimeout(total=None, connect=timeouts.connect_seconds),
            auto_decompress=False,
            skip_auto_headers=("accept", "content-type", "user-agent"),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=True,
        )

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
        body: bytes | io.BytesIO = call.body
        if len(call.body) >= _LARGE_BODY_BYTES:
            body = io.BytesIO(call.body)
        try:
            async with asyncio.timeout(self._timeouts.reply_seconds):
                response = await self._session.request(
                    call.method,
                    URL(f"{self._base}{call.path}", encoded=True),
                    data=body or None,
                    headers=self._headers(call.headers),
                    allow_redirects=False,
                )
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise self._typed(error) from error
        return AiohttpReply(response, self._timeouts)

    @override
    async def close(self) -> None:
        await self._session.close()

    def _headers(self, headers: Headers) -> list[tuple[str, str]]:
        forwarded = [*headers, ("accept-encoding", "identity")]
        if self._authorization is None:
            return forwarded
        kept = [header for header in forwarded if header[0] != "authorization"]
        return [*kept, ("authorization", self._authorization)]

    def _typed(self, error: Exception) -> UpstreamError:
        if isinstance(error, aiohttp.ConnectionTimeoutError | aiohttp.ClientConnectorError):
            return Unreachable(
                f"The upstream of lane `{self._name}` cannot be reached.", retry_after_seconds=2
            )
        if isinstance(error, TimeoutError):
            seconds = self._timeouts.reply_seconds
            return TimedOut(f"The upstream did not begin its reply within {seconds:g} s.")
        if isinstance(error, aiohttp.ClientConnectionError | OSError):
            return BadReply("The upstream closed the connection before it replied.")
        return BadReply("The upstream answered with something that is not HTTP.")


class AiohttpReply:
    """One reply that comes through aiohttp."""

    __slots__ = ("_idle", "_response", "headers", "is_stream", "status")

    def __init__(self, response: aiohttp.ClientResponse, timeouts: Timeouts) -> None:
        self._response = response
        self.status = response.status
        kind = response.headers.get("content-type", "").lower()
        self.is_stream = kind.startswith("text/event-stream")
        self.headers = end_to_end(
            response.headers.items(), response.headers.getall("connection", ())
        )
        self._idle = _IdleTimer(response, timeouts)

    @property
    def is_over(self) -> bool:
        return self._response.content.at_eof()

    async def chunk(self) -> bytes:
        self._idle.waiting = True
        try:
            data = await self._response.content.readany()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            if self._idle.expired:
                raise TimedOut(
                    f"The upstream sent nothing for {self._idle.seconds:g} s.",
                    code=Fault.UPSTREAM_IDLE,
                ) from error
            raise BadReply("The upstream broke off in the middle of its reply.") from error
        self._idle.heard()
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._idle.stop()
        self._response.close()


class _IdleTimer:
    """Closes a reply that stays silent while it is waited for.

    Until the first piece the limit is `reply_seconds`: a long prompt may be prefilled for minutes
    after the headers of its stream were sent. The time in which a slow client lets us wait does
    not count: then it is we who do not read. A timer looks at the reply now and then, so that a
    piece costs no look at the clock; a limit is kept to within a tenth of it, or a second.
    """

    __slots__ = (
        "_handle",
        "_idle_seconds",
        "_look_seconds",
        "_loop",
        "_response",
        "_silent",
        "expired",
        "seconds",
        "waiting",
    )

    def __init__(self, response: aiohttp.ClientResponse, timeouts: Timeouts) -> None:
        self._loop = asyncio.get_running_loop()
        self._response = response
        self._idle_seconds = timeouts.idle_seconds
        self._look_seconds = min(timeouts.reply_seconds, timeouts.idle_seconds) / _LOOKS
        self._look_seconds = min(self._look_seconds, _LOOK_SECONDS)
        self._silent = 0.0
        self.expired = False
        self.waiting = False
        self.seconds = timeouts.reply_seconds
        self._handle = self._loop.call_later(self._look_seconds, self._look)

    def heard(self) -> None:
        """A piece has arrived."""
        self.waiting = False
        self._silent = 0.0
        self.seconds = self._idle_seconds

    def stop(self) -> None:
        self._handle.cancel()

    def _look(self) -> None:
        if self.waiting:
            self._silent += self._look_seconds
            self.expired = self._silent >= self.seconds
            if self.expired or self._is_lost():
                self._response.close()
                return
        self._handle = self._loop.call_later(self._look_seconds, self._look)

    def _is_lost(self) -> bool:
        """Whether the connection is gone though the body has not been told so."""
        connection = self._response.connection
        return connection is not None and connection.transport is None
