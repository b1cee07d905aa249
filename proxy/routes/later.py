"""An application that is built when it is first asked."""

import asyncio
from collections.abc import Callable

from proxy.routes.asgi import Application, Receive, Scope, Send
from proxy.routes.health import HEALTH, answer_health


class LaterApp:
    """Builds an ASGI application in a thread, once, for the first who asks.

    FastAPI takes 0.2 s to import, a third of a start: neither a start nor the event loop waits for
    it.
    """

    def __init__(self, build: Callable[[], Application]) -> None:
        self._build = build
        self._building: asyncio.Task[Application] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._building is None:
            self._building = asyncio.create_task(asyncio.to_thread(self._build))
        # Who leaves meanwhile must not take it from the others.
        app = await asyncio.shield(self._building)
        await app(scope, receive, send)


class HealthyApp:
    """Answers `/health` itself; everything else is for an application that is built later."""

    def __init__(self, health: bytes, others: LaterApp) -> None:
        self._health = health
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == HEALTH:
            await answer_health(scope, send, self._health)
        else:
            await self._others(scope, receive, send)
