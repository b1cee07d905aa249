"""The public listener: relayed paths go straight to the gateway, the rest is documentation."""

from typing import Any

from fastapi import FastAPI
from fastapi.responses import JSONResponse

from proxy import __version__
from proxy.routes.asgi import Receive, Scope, Send
from proxy.routes.openai import Gateway
from proxy.routes.paths import PATHS

_OWN_PATHS = frozenset({"/", "/docs", "/docs/oauth2-redirect", "/openapi.json", "/health"})


class PublicApp:
    """An ASGI application in two halves; the gateway's half sees no framework at all."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._pages = build_pages()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in _OWN_PATHS:
            await self._gateway(scope, receive, send)
        else:
            await self._pages(scope, receive, send)


def build_pages() -> FastAPI:
    """What a browser finds: a greeting, health, and the list of relayed paths."""
    app = FastAPI(
        title="Sluicegate",
        version=__version__,
        summary="An OpenAI-compatible gating proxy for vLLM.",
        redoc_url=None,
    )

    @app.get("/", summary="What this is")
    async def greeting() -> JSONResponse:
        return JSONResponse(
            {"name": "sluicegate", "version": __version__, "base_url": "/v1", "docs": "/docs"}
        )

    @app.get("/health", summary="The process answers")
    async def health() -> JSONResponse:
        return JSONResponse({"status": "ok"})

    own_schema = app.openapi

    def schema() -> dict[str, Any]:
        document = own_schema()
        for path, relayed in PATHS.items():
            document["paths"][path] = {
                method.lower(): {
                    "summary": f"Relayed to the upstream ({relayed.endpoint})",
                    "responses": {"200": {"description": "The upstream's reply"}},
                }
                for method in relayed.methods
            }
        return document

    app.openapi = schema  # type: ignore[method-assign]
    return app
