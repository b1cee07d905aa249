"""The admin listener: health, readiness, metrics, and what became of a request.

No route has a model or a typed parameter: for the first of them FastAPI imports all of pydantic's
first version, which takes a tenth of a start and of the memory.
"""

import hmac
from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec
from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse

from proxy import __version__
from proxy.recipes.lane.watch import RecipeWatch
from proxy.routes.bearer import bearer_token
from proxy.routes.shown import Shown
from proxy.telemetry.exposition import Form, wanted_form
from proxy.telemetry.scrapes import Scrapes

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
    scrapes = Scrapes(shown.metrics.page, shown.catch_up)
    guarded = [Depends(_token_check(shown.token))]

    @app.get("/ready", summary="Requests can be served", responses={503: {}})
    async def ready() -> JSONResponse:
        lanes = {name: _lane_state(shown, name) for name in shown.engines}
        draining = shown.is_draining()
        able = not draining and _is_able(shown, "main")
        body = {"ready": able, "draining": draining, "lanes": lanes, "slo": _objective(shown)}
        return JSONResponse(body, status_code=200 if able else 503)

    @app.get("/metrics", dependencies=guarded, summary="Prometheus metrics")
    async def metrics(request: Request) -> Response:
        form = _form(request)
        return Response(await scrapes.page(form), headers=_page_headers(form))

    @app.head("/metrics", dependencies=guarded, include_in_schema=False)
    async def metrics_head(request: Request) -> Response:
        head = Response(headers=_page_headers(_form(request)))
        # Only the length that GET would have may be told (RFC 9110, 8.6), and no page is made.
        del head.headers["content-length"]
        return head

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


def _form(request: Request) -> Form:
    return wanted_form(", ".join(request.headers.getlist("accept")))


def _page_headers(form: Form) -> dict[str, str]:
    return {"content-type": form, "vary": "accept"}


def _is_able(shown: Shown, lane: str) -> bool:
    """Whether a lane's engine answers, and no probe keeps requests back."""
    readiness = shown.readiness[lane]
    able = not shown.engines[lane].is_away
    return able and (readiness is None or readiness.is_ready)


def _lane_state(shown: Shown, lane: str) -> dict[str, object]:
    engine, readiness = shown.engines[lane], shown.readiness[lane]
    return {
        "engine": engine.state,
        "asleep": engine.is_asleep,
        "starts_told_by": engine.source,
        "probe": readiness.probe_status if readiness else None,
        "recipe": _recipe_state(shown.recipes[lane]),
    }


def _recipe_state(watch: RecipeWatch | None) -> dict[str, object] | None:
    """`contradictions` is null while the engine's present start has not told what it runs."""
    if watch is None:
        return None
    return {
        "name": watch.recipe.name,
        "hash": watch.recipe.hash,
        "contradictions": msgspec.to_builtins(watch.contradictions),
    }


def _objective(shown: Shown) -> dict[str, object]:
    is_default = "ttfr_seconds" not in shown.slo.model_fields_set
    return {"ttfr_seconds": shown.slo.ttfr_seconds, "is_default": is_default}


def _token_check(token: str | None) -> Callable[[Request], Awaitable[None]]:
    async def check(request: Request) -> None:
        given = bearer_token(request.headers.get("authorization", ""))
        if token is not None and not hmac.compare_digest(given.encode(), token.encode()):
            raise HTTPException(401, "This listener needs `Authorization: Bearer …`.")

    return check
