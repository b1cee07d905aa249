"""The public listener: relayed paths go straight to the gateway, the rest is documentation."""

from typing import Final

from proxy.routes.asgi import Application, Receive, Scope, Send
from proxy.routes.health import HEALTH, answer_health
from proxy.routes.later import LaterApp
from proxy.routes.openai import Gateway

_PAGES: Final = frozenset({"/", "/docs", "/docs/oauth2-redirect", "/openapi.json"})
_HEALTHY: Final = b'{"status":"ok"}'


class PublicApp:
    """An ASGI application; the gateway and `/health` see no framework at all."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._pages = LaterApp(_pages)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        if path == HEALTH:
            await answer_health(scope, send, _HEALTHY)
        elif path in _PAGES:
            await self._pages(scope, receive, send)
        else:
            await self._gateway(scope, receive, send)


def _pages() -> Application:
    from proxy.routes.pages import build_pages  # noqa: PLC0415 - FastAPI is large: see LaterApp

    return build_pages()
