"""What a browser finds on the public listener: a greeting and its documentation."""

from typing import Any

from fastapi import FastAPI
from fastapi.responses import JSONResponse

from proxy import __version__
from proxy.routes.paths import PATHS


def build_pages() -> FastAPI:
    """A greeting, and the list of paths: relayed ones, and `/health`, which needs no framework."""
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

    own_schema = app.openapi

    def schema() -> dict[str, Any]:
        document = own_schema()
        document["paths"]["/health"] = {"get": _described("The process answers")}
        for path, relayed in PATHS.items():
            document["paths"][path] = {
                method.lower(): _described(f"Relayed to the upstream ({relayed.endpoint})")
                for method in relayed.methods
            }
        return document

    app.openapi = schema  # type: ignore[method-assign]
    return app


def _described(summary: str) -> dict[str, Any]:
    return {"summary": summary, "responses": {"200": {"description": "The reply"}}}
