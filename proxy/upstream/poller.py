"""Looks at an upstream's /metrics from time to time, off the hot path, and tells the engine."""

import asyncio
from typing import Final

from proxy.errors import Unreachable, UpstreamError
from proxy.upstream.engine import Engine, read_counters
from proxy.upstream.lane import Call, Lane

_METRICS: Final = Call("GET", "/metrics", ())
_PAGE_BYTES: Final = 4 << 20
_OK: Final = 200
_LOADING: Final = 503


class EnginePoller:
    """Polls one lane. `look` once before serving, then `run` until cancelled."""

    def __init__(
        self, lane: Lane, engine: Engine, *, poll_seconds: float, timeout_seconds: float
    ) -> None:
        self._lane = lane
        self._engine = engine
        self._poll_seconds = poll_seconds
        self._timeout_seconds = timeout_seconds

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._poll_seconds)
            await self.look()

    async def look(self) -> None:
        """One look. A slow or broken page says nothing; only a refused connection does."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                status, page = await self._page()
        except Unreachable:
            self._engine.saw_unreachable()
            return
        except (UpstreamError, TimeoutError):
            return
        if status == _LOADING:
            self._engine.saw_loading()
        else:
            self._engine.saw_alive(read_counters(page) if status == _OK else None)

    async def _page(self) -> tuple[int, bytes]:
        page = bytearray()
        with await self._lane.open(_METRICS) as reply:
            while chunk := await reply.chunk():
                page += chunk
                if len(page) > _PAGE_BYTES:
                    break
            return reply.status, bytes(page)
