"""An application that is built when it is first asked."""

import asyncio
from collections.abc import Callable

from proxy.routes.asgi import Application, Receive, Scope, Send


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
