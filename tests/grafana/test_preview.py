"""The preview without its browser: its needs, its relay, and what it calls a difference."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from grafana.preview.__main__ import missing
from grafana.preview.draw import Period, differences
from grafana.preview.site import FOLDER, Relay

Json = dict[str, Any]


def panel(identity: int, series: int, fault: str | None = None) -> Json:
    return {"id": identity, "title": f"panel {identity}", "series": series, "fault": fault}


def answer(series: int) -> Json:
    return {"status": "success", "data": {"result": [{}] * series}}


@asynccontextmanager
async def served(app: web.Application) -> AsyncIterator[str]:
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def relaying(document: Json, asked: list[str]) -> AsyncIterator[tuple[str, Relay]]:
    """A relay before a server that answers everything with one document."""

    async def reply(request: web.Request) -> web.Response:
        form = await request.post()
        asked.append(f"{request.path}?{form['query']!s}")
        return web.json_response(document)

    prometheus, front = web.Application(), web.Application()
    prometheus.router.add_post("/api/v1/{question}", reply)
    async with served(prometheus) as url, aiohttp.ClientSession() as http:
        relay = Relay(url, http)
        front.router.add_post(r"/prometheus/{panel:\d+}/{question}", relay.answer)
        async with served(front) as address:
            yield address, relay


async def asking(address: str, path: str, http: aiohttp.ClientSession) -> tuple[int, bytes]:
    async with http.post(f"{address}{path}", data={"query": "up"}) as response:
        return response.status, await response.read()


async def test_relay_passes_queries_on_and_counts_their_series_for_each_panel() -> None:
    asked: list[str] = []
    async with relaying(answer(3), asked) as (address, relay), aiohttp.ClientSession() as http:
        status, body = await asking(address, "/prometheus/7/query_range", http)
        await asking(address, "/prometheus/7/query", http)
        await asking(address, "/prometheus/8/query", http)

    assert (status, json.loads(body)) == (200, answer(3))
    assert asked == ["/api/v1/query_range?up", "/api/v1/query?up", "/api/v1/query?up"]
    assert dict(relay.series) == {7: 6, 8: 3}


async def test_relay_passes_nothing_on_but_queries() -> None:
    asked: list[str] = []
    async with relaying(answer(1), asked) as (address, _), aiohttp.ClientSession() as http:
        status, _body = await asking(address, "/prometheus/7/admin", http)

    assert (status, asked) == (404, [])


async def test_a_query_that_prometheus_refuses_counts_no_series() -> None:
    refused = {"status": "error", "error": "parse error"}
    async with relaying(refused, []) as (address, relay), aiohttp.ClientSession() as http:
        _, body = await asking(address, "/prometheus/7/query", http)

    assert json.loads(body) == refused
    assert dict(relay.series) == {7: 0}


def test_a_page_that_draws_what_was_returned_has_no_differences() -> None:
    assert differences([panel(1, 2), panel(2, 0)], {0: 5, 1: 2}) == []


@pytest.mark.parametrize(
    ("drawn", "told"),
    [
        (panel(1, 1), "panel 1: 2 series, 1 drawn"),
        (panel(1, 3), "panel 1: 2 series, 3 drawn"),
        (panel(1, 2, "parse error"), "panel 1: parse error"),
    ],
    ids=["too few", "too many", "failed"],
)
def test_a_panel_that_draws_something_else_is_told(drawn: Json, told: str) -> None:
    assert differences([drawn], {1: 2}) == [told]


def test_a_panel_that_is_not_in_the_page_is_told() -> None:
    assert differences([], {1: 2}) == ["panel 1 is not in the page"]


def test_everything_that_is_missing_is_told_with_the_way_to_get_it(tmp_path: Path) -> None:
    told = missing(None, lambda _: None, tmp_path)

    assert [one.partition(" ")[0] for one in told] == ["chromium", "prometheus", "the"]
    assert all("apt install" in one or "make preview" in one for one in told)


def test_another_prometheus_needs_none_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "index.html").touch()

    found = {"chromium": "/usr/bin/chromium"}
    assert missing("http://127.0.0.1:9090", found.get, tmp_path) == []
    assert len(missing(None, found.get, tmp_path)) == 1


def test_page_is_told_what_its_script_reads() -> None:
    query = Period(start=100, end=400, scrape=5, window=40).query("sluicegate-mtp")

    script = (FOLDER / "src" / "prometheus.js").read_text(encoding="utf-8")
    assert query == "dashboard=sluicegate-mtp&from=100&to=400&scrape=5&window=40"
    assert all(f'given.get("{name}")' in script for name in ("from", "to", "scrape", "window"))


def test_versions_are_pinned_exactly_and_the_lock_names_no_server() -> None:
    package = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((FOLDER / "package-lock.json").read_text(encoding="utf-8"))

    pins = package["dependencies"]
    assert all(version.replace(".", "").isdigit() for version in pins.values())
    assert lock["packages"][""]["dependencies"] == pins
    assert all(one.get("integrity") for name, one in lock["packages"].items() if name)
    assert not any("resolved" in one for one in lock["packages"].values())
