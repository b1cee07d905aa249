"""Looks at an upstream's metrics page from time to time, off the hot path, and tells the engine."""

import asyncio
from contextlib import suppress
from typing import Final

from proxy.errors import Unreachable, UpstreamError
from proxy.upstream.boot_facts import facts_of_models, facts_of_page, facts_of_version
from proxy.upstream.counters import MetricsPage
from proxy.upstream.engine import Engine
from proxy.upstream.lane import Call, Lane

_METRICS: Final = Call("GET", "/metrics", ())
_VERSION: Final = Call("GET", "/version", ())
_MODELS: Final = Call("GET", "/v1/models", ())
_PAGE_BYTES: Final = 4 << 20
_FACT_BYTES: Final = 64 << 10
_TRIES: Final = 3
_OK: Final = 200
_LOADING: Final = 503
# What a server before the engine answers when it finds none.
_NO_ENGINE: Final = (502, 504)
# After a look that met silence the next is more patient: so a connection that cannot be made, which
# the lane gives up by itself, is told from a page that is slow.
_PATIENCE: Final = 5


class EnginePoller:
    """Polls one lane. `look` once before serving, then `run` until cancelled.

    One look at a time; who asks for one while another runs waits and looks again.
    """

    def __init__(
        self, lane: Lane, engine: Engine, *, poll_seconds: float, timeout_seconds: float
    ) -> None:
        self._lane = lane
        self._engine = engine
        self._poll_seconds = poll_seconds
        self._timeout_seconds = timeout_seconds
        self._looking = asyncio.Lock()
        self._silent_looks = 0
        # The engine start whose facts are read, and how often that may still be tried.
        self._facts_of = 0
        self._tries = 0

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._poll_seconds)
            await self.look()

    async def look(self) -> None:
        """One look. A slow or broken page says nothing of the engine, only of its counters."""
        async with self._looking:
            patience = _PATIENCE if self._silent_looks else 1
            try:
                async with asyncio.timeout(self._timeout_seconds * patience):
                    page = await self._page()
                self._silent_looks = 0
            except Unreachable:
                self._silent_looks = 0
                self._engine.saw_unreachable()
                return
            except (UpstreamError, TimeoutError):
                self._silent_looks += 1
                if self._silent_looks > 1:
                    self._engine.saw_no_page()
                return
            if page is not None:
                self._engine.saw_page(page.counters())
                await self._learn(page)

    async def _page(self) -> MetricsPage | None:
        """The page, empty where there is none; None where no engine answered."""
        page, size = MetricsPage(), 0
        with await self._lane.open(_METRICS) as reply:
            if reply.status == _LOADING:
                self._engine.saw_loading()
                return None
            if reply.status in _NO_ENGINE:
                self._engine.saw_unreachable()
                return None
            while reply.status == _OK and (piece := await reply.chunk()):
                size += len(piece)
                if size > _PAGE_BYTES:
                    return MetricsPage()
                page.feed(piece)
        return page

    async def _learn(self, page: MetricsPage) -> None:
        """Read the facts of a start once, also of one that an earlier run of the proxy knew.

        What is remembered may be less than is read today. Calls that fail are tried again.
        """
        start = self._engine.start
        if start.number != self._facts_of:
            self._facts_of, self._tries = start.number, _TRIES
        if not self._tries:
            return
        self._tries -= 1
        with suppress(UpstreamError, TimeoutError):
            async with asyncio.timeout(self._timeout_seconds):
                version = facts_of_version(await self._body(_VERSION))
                models = facts_of_models(await self._body(_MODELS))
            self._engine.learn(start, {**version, **models, **facts_of_page(page)})
            self._tries = 0

    async def _body(self, call: Call) -> bytes:
        """What a call answers; empty where that is an error, or too long."""
        body = bytearray()
        with await self._lane.open(call) as reply:
            while reply.status == _OK and (piece := await reply.chunk()):
                body += piece
                if len(body) > _FACT_BYTES:
                    return b""
        return bytes(body)
