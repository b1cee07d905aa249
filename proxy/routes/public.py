"""The public listener: relayed paths go straight to the gateway, the rest is documentation."""

from typing import Final

from proxy.routes.asgi import Application, Receive, Scope, Send
from proxy.routes.later import LaterApp
from proxy.routes.openai import Gateway

_HEALTH: Final = "/health"
_PAGES: Final = frozenset({"/", "/docs", "/docs/oauth2-redirect", "/openapi.json"})
_HEALTHY: Final = b'{"status":"ok"}'


class PublicApp:
    """An ASGI application; the gateway and `/health` see no framework at all."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._pages = LaterApp(_pages)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        if path == _HEALTH:
            await _health(scope, send)
        elif path in _PAGES:
            await self._pages(scope, receive, send)
        else:
            await self._gateway(scope, receive, send)


def _pages() -> Application:
    from proxy.routes.pages import build_pages  # noqa: PLC0415 - FastAPI is large: see LaterApp

    return build_pages()


async def _health(scope: Scope, send: Send) -> None:
    """Whether the process answers; load balancers ask often."""
    is_asked = scope["method"] in ("GET", "HEAD")
    body = _HEALTHY if is_asked else b""
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if not is_asked:
        headers.append((b"allow", b"GET, HEAD"))
    status = 200 if is_asked else 405
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
