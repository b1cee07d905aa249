"""What a started engine says of itself over HTTP: whether it is healthy, and its boot facts."""

import time
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Final, Self

import aiohttp
import msgspec

from proxy.telemetry.engine_start import EngineStartRecord
from proxy.upstream.boot_facts import facts_of_models, facts_of_page, facts_of_version
from proxy.upstream.counters import MetricsPage
from proxy.upstream.start_records import Arrival, by_counters

MAIN_LANE: Final = "main"
_TIMEOUT_SECONDS: Final = 5.0
_PAGE_BYTES: Final = 4 << 20
_FACT_BYTES: Final = 64 << 10
_OK: Final = 200


class EngineView:
    """Looks at one address. `async with EngineView(url) as view`."""

    def __init__(self, url: str, unix: Callable[[], float] = time.time) -> None:
        self._url = url
        self._unix = unix
        # The certificate of an engine on this machine was made for other names.
        self._http = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=_TIMEOUT_SECONDS),
            connector=aiohttp.TCPConnector(ssl=False),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.close()

    async def is_healthy(self) -> bool:
        """Whether `/health` answers 200; while vLLM loads, nothing listens."""
        try:
            async with self._http.get(f"{self._url}/health") as response:
                return response.status == _OK
        except (aiohttp.ClientError, TimeoutError):
            return False

    async def start_record(self) -> EngineStartRecord | None:
        """The present engine start with its facts, as a proxy of lane `main` would tell it.

        None where its metrics do not tell one start from another.
        """
        page = MetricsPage()
        try:
            async for piece in self._pieces("/metrics", _PAGE_BYTES):
                page.feed(piece)
            version = facts_of_version(await self._body("/version"))
            models = facts_of_models(await self._body("/v1/models"))
        except (aiohttp.ClientError, TimeoutError):
            return None
        counters = page.counters()
        if counters is None:
            return None
        now = self._unix()
        record = by_counters(Arrival(MAIN_LANE, seen_at=now, alive_at=now), counters)
        facts = {**version, **models, **facts_of_page(page)}
        return msgspec.structs.replace(record, facts=facts)

    async def _body(self, path: str) -> bytes:
        return b"".join([piece async for piece in self._pieces(path, _FACT_BYTES)])

    async def _pieces(self, path: str, most_bytes: int) -> AsyncIterator[bytes]:
        """What a page answers, no more of it than that; nothing where it is an error."""
        async with self._http.get(f"{self._url}{path}") as response:
            if response.status != _OK:
                return
            left = most_bytes
            async for piece in response.content.iter_any():
                yield piece[:left]
                left -= len(piece)
                if left <= 0:
                    return
