"""Every query of every panel against a real proxy and a real Prometheus, idle and busy."""

import asyncio
import math
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp
import pytest

from proxy.data_files import recipes_folder
from tests.engines.gate_process import GateProcess
from tests.fakes.prometheus import Prometheus, Series
from tests.fakes.upstream import fake_upstream
from tests.fakes.vllm_page import VllmPage
from tests.grafana.programs import needed
from tests.grafana.shipped import Asked, annotations, asked, choices
from tests.grafana.traffic import Traffic

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

WINDOWS: Final = {"$__rate_interval": "15s", "$__range": "1m", "$__range_s": "60"}
# What nothing here exports, or nobody here uses.
ABSENT: Final = {
    "Memory of the host",
    "GPU power",
    "GPU temperature",
    "GPU utilisation",
    "Time of judge lanes",
    "Way to the engine",
}
ABSENT_HOSTS: Final = {"host_job", "host"}
RECIPE: Final = next(recipes_folder().glob("*mtp1*.yaml"))
_SCRAPED_OFTEN: Final = " and on () ".join(
    f'(count_over_time(up{{job="{job}"}}[1m]) >= 4)' for job in ("sluicegate", "vllm")
)
# The start before is over, and nobody had asked it anything.
_STARTED_ANEW: Final = 'sluicegate_engine_starts_total{first_answer="unknown"} == 1'
_OUTCOMES: Final = ("passed", "repaired", "flagged", "rejected", "refused", "upstream_failed")
_ALL_OUTCOMES: Final = (
    "count(sum by (outcome) "
    f'(rate(sluicegate_requests_total{{outcome=~"{"|".join(_OUTCOMES)}"}}[15s])) > 0) '
    f"== {len(_OUTCOMES)} and on () sum(rate(vllm:spec_decode_num_drafts_total[15s])) > 0"
)

Answers = Mapping[Asked, list[Series]]


@dataclass(frozen=True, slots=True)
class Watched:
    """A proxy that Prometheus scrapes together with its engine."""

    traffic: Traffic
    prometheus: Prometheus
    http: aiohttp.ClientSession

    async def answers(self) -> Answers:
        queries = asked(WINDOWS)
        found = [await self.prometheus.ask(self.http, one.expression) for one in queries]
        return dict(zip(queries, found, strict=True))


@asynccontextmanager
async def _watched(folder: Path) -> AsyncIterator[Watched]:
    program = needed("prometheus", "prometheus")
    async with (
        fake_upstream() as upstream,
        GateProcess(folder, upstream.url, {"lanes.main.recipe": str(RECIPE)}) as gate,
        aiohttp.ClientSession() as http,
    ):
        traffic = Traffic(upstream, gate.url, http)
        traffic.show(VllmPage(0, started_at=1.0, speculates=False))
        targets = {"sluicegate": gate.admin_url, "vllm": upstream.url}
        hosts = {job: url.removeprefix("http://") for job, url in targets.items()}
        async with Prometheus(program, folder, hosts) as prometheus:
            yield Watched(traffic, prometheus, http)


@asynccontextmanager
async def _running(traffic: Traffic) -> AsyncIterator[None]:
    """Rounds of traffic, one after the other."""

    async def go_on() -> None:
        while True:
            await traffic.round()

    await traffic.cold()
    task = asyncio.create_task(go_on())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _values(answers: Answers, panel: str) -> list[float]:
    return [value for one, found in answers.items() if one.panel == panel for _, value in found]


def _not_finite(answers: Answers) -> list[str]:
    return [
        f"{one}: {value}"
        for one, found in answers.items()
        for _, value in found
        if not math.isfinite(value)
    ]


def _without_their_labels(answers: Answers) -> list[str]:
    """Series that a legend could not name."""
    return [
        f"{one}: {labels}"
        for one, found in answers.items()
        for labels, _ in found
        if not set(re.findall(r"\{\{(\w+)\}\}", one.legend)) <= labels.keys()
    ]


async def test_every_panel_answers_idle_and_busy(tmp_path: Path) -> None:
    async with _watched(tmp_path) as watched:
        await watched.prometheus.until(watched.http, _SCRAPED_OFTEN)
        idle = await watched.answers()
        watched.traffic.show(VllmPage(0, started_at=2.0))
        await watched.prometheus.until(watched.http, _STARTED_ANEW)
        async with _running(watched.traffic):
            await watched.prometheus.until(watched.http, _ALL_OUTCOMES)
            busy = await watched.answers()
            values = [
                await watched.prometheus.ask(watched.http, one) for one in choices(ABSENT_HOSTS)
            ]
            marks = [await watched.prometheus.ask(watched.http, one) for one in annotations()]

    assert _not_finite(idle) == []
    assert _values(idle, "Speculation") == [0]
    assert _values(idle, "Acceptance") == _values(idle, "Acceptance rate") == [-1]
    assert _values(idle, "Requests") == _values(idle, "Rejected") == [0]
    assert _values(idle, "Delivered TTFR p50") == _values(idle, "Share invalid") == []
    assert _not_finite(busy) == []
    assert _without_their_labels(busy) == []
    assert {one.panel for one, found in busy.items() if not found} == ABSENT
    assert _values(busy, "Speculation") == [1]
    assert _values(busy, "Acceptance") == [pytest.approx(0.8)]
    assert _values(busy, "Acceptance length") == [pytest.approx(1.8)]
    assert _values(busy, "Starts judged (n)") == _values(busy, "First answer invalid") == [1]
    assert _values(busy, "95 % interval, from") == [pytest.approx(0.2065, abs=1e-4)]
    assert _values(busy, "95 % interval, to") == [1]
    assert _values(busy, "Targets down") == [0]
    assert all(values)
    assert all(marks)
