"""The admin listener: health, readiness, metrics, and what became of a request.

No route has a model or a typed parameter: for the first of them FastAPI imports all of pydantic's
first version, which takes a tenth of a start and of the memory.
"""

import asyncio
import hmac
from collections.abc import Callable
from typing import Any, Final

import msgspec
from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse

from proxy import __version__
from proxy.routes.shown import Shown
from proxy.telemetry.metrics import Metrics

_REQUEST_ID: Final[dict[str, Any]] = {
    "name": "request_id",
    "in": "path",
    "required": True,
    "schema": {"type": "string"},
}


def build_admin(shown: Shown) -> FastAPI:
    """The admin application. Health and readiness are open: orchestrators carry no token."""
    app = FastAPI(
        title="Sluicegate admin",
        version=__version__,
        summary="Health, readiness, metrics and request look-up.",
        redoc_url=None,
    )
    scrape = _Scrape(shown.metrics)
    guarded = [Depends(_token_check(shown.token))]

    @app.get("/ready", summary="Requests can be served", responses={503: {}})
    async def ready() -> JSONResponse:
        lanes = {name: _lane_state(shown, name) for name in shown.engines}
        draining = shown.is_draining()
        able = not draining and _is_able(shown, "main")
        body = {"ready": able, "draining": draining, "lanes": lanes}
        return JSONResponse(body, status_code=200 if able else 503)

    @app.get("/metrics", dependencies=guarded, summary="Prometheus metrics")
    async def metrics(request: Request) -> Response:
        shown.catch_up()
        wants_open = "application/openmetrics-text" in request.headers.get("accept", "")
        page, content_type = await scrape.page(open_metrics=wants_open)
        return Response(page, headers={"content-type": content_type})

    @app.get(
        "/sluicegate/requests/{request_id:path}",  # noqa: FAST003 - no typed parameters, see above
        dependencies=guarded,
        summary="What became of a request, by its x-request-id",
        responses={404: {}},
        openapi_extra={"parameters": [_REQUEST_ID]},
    )
    async def look_up(request: Request) -> JSONResponse:
        shown.catch_up()
        record = shown.recent.get(request.path_params["request_id"])
        if record is None:
            raise HTTPException(404, "No request of this id among the last ones.")
        return JSONResponse(msgspec.to_builtins(record))

    return app


def _is_able(shown: Shown, lane: str) -> bool:
    """Whether a lane's engine answers, and no probe keeps requests back."""
    readiness = shown.readiness[lane]
    able = not shown.engines[lane].is_away
    return able and (readiness is None or readiness.is_ready)


def _lane_state(shown: Shown, lane: str) -> dict[str, str | bool | None]:
    engine, readiness = shown.engines[lane], shown.readiness[lane]
    return {
        "engine": engine.state,
        "asleep": engine.is_asleep,
        "starts_told_by": engine.source,
        "probe": readiness.probe_status if readiness else None,
    }


class _Scrape:
    """Renders the page in a thread, since it takes milliseconds; scrapes at once share one."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._running: dict[bool, asyncio.Task[tuple[bytes, str]]] = {}

    async def page(self, *, open_metrics: bool) -> tuple[bytes, str]:
        task = self._running.get(open_metrics)
        if task is None:
            work = asyncio.to_thread(self._metrics.page, open_metrics=open_metrics)
            task = asyncio.create_task(work)
            self._running[open_metrics] = task
            task.add_done_callback(lambda _: self._running.pop(open_metrics))
        return await asyncio.shield(task)


def _token_check(token: str | None) -> Callable[[Request], None]:
    wanted = f"Bearer {token}".encode()

    def check(request: Request) -> None:
        given = request.headers.get("authorization", "").encode()
        if token is not None and not hmac.compare_digest(given, wanted):
            raise HTTPException(401, "This listener needs `Authorization: Bearer …`.")

    return check
