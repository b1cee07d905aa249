"""A second look at an engine that seems to be away: its metrics page may be all that is silent.

Where requests wait for their engine, nobody else would find out.
"""

import asyncio
from typing import Final

from typing_extensions import override

from proxy.contract.readiness import Looks
from proxy.errors import UpstreamError
from proxy.upstream.engine import Engine, EngineState
from proxy.upstream.lane import Call, Lane

_MODELS: Final = Call("GET", "/v1/models", ())
# What a server before the engine answers when it finds none, or one that loads.
_NO_ENGINE: Final = (502, 503, 504)


class SecondLook(Looks):
    """Looks as `first` does, then at the list of models if the engine is still unreachable."""

    def __init__(self, first: Looks, lane: Lane, engine: Engine, timeout_seconds: float) -> None:
        self._first = first
        self._lane = lane
        self._engine = engine
        self._timeout_seconds = timeout_seconds

    @override
    async def look(self) -> None:
        await self._first.look()
        if self._engine.state is EngineState.UNREACHABLE and await self._answers():
            self._engine.saw_alive()

    async def _answers(self) -> bool:
        try:
            async with asyncio.timeout(self._timeout_seconds):
                with await self._lane.open(_MODELS) as reply:
                    return reply.status not in _NO_ENGINE
        except (UpstreamError, TimeoutError):
            return False
