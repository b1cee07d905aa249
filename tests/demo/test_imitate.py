import asyncio
import io
import re
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from typing_extensions import override

from proxy.demo.imitate import ImitateOptions, imitation_settings, show_imitation
from proxy.demo.load.asks import Asks, Kind
from proxy.demo.load.tally import Counts, read_counts
from proxy.errors import SettingsError
from proxy.server import bind
from tests.fakes.imitation import chance, options

FAULTS = (
    *("doubled_brace=0.1", "think_tag=0.1", "unfinished=0.1", "too_long=0.1"),
    *("unsupported_number=0.2", "call_in_text=0.2", "stream_cut=0.1", "stall=0.05"),
    *("cold_strict_json=1", "stubborn=0.5"),
)


class Told(io.StringIO):
    """What a demo tells, and a way to wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self._more = asyncio.Event()

    @override
    def write(self, text: str) -> int:
        count = super().write(text)
        self._more.set()
        return count

    async def until(self, enough: Callable[[str], bool]) -> None:
        while not enough(self.getvalue()):
            self._more.clear()
            await self._more.wait()

    def address(self, label: str) -> str:
        lines = self.getvalue().splitlines()
        return next(line for line in lines if line.strip().startswith(label)).split()[-1]


def asked_for(*faults: str, rate: float = 0.0, speed: float = 20.0) -> ImitateOptions:
    return ImitateOptions(options(*faults, speed=speed), port=0, admin_port=0, rate=rate)


async def say_hello(told: Told) -> tuple[int, Any]:
    """The status and the document of one plain reply."""
    body = {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4}
    url = f"{told.address('base_url')}/chat/completions"
    async with aiohttp.ClientSession() as http, http.post(url, json=body) as response:
        return response.status, await response.json()


async def page_of(metrics_url: str) -> str:
    async with aiohttp.ClientSession() as http, http.get(metrics_url) as response:
        return await response.text()


def is_running(told: str) -> bool:
    return "Running." in told


@asynccontextmanager
async def shown(wanted: ImitateOptions) -> AsyncIterator[Told]:
    """A demo that runs; ended with the block. Raises what it raises before it runs."""
    out = Told()
    task = asyncio.create_task(show_imitation(wanted, out, io.StringIO(), which=lambda _: None))
    runs = asyncio.create_task(out.until(is_running))
    try:
        await asyncio.wait({task, runs}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        yield out
    finally:
        for each in (task, runs):
            each.cancel()
        await asyncio.gather(task, runs, return_exceptions=True)


async def counts_of(metrics_url: str) -> Counts:
    return read_counts(await page_of(metrics_url))


async def test_it_says_first_that_nothing_is_real_and_where_numbers_come_from() -> None:
    async with shown(asked_for("not_json=0.5")) as told:
        pass

    text = told.getvalue()
    first = text.strip().splitlines()[0]
    assert first == "imitation-mtp1: an imitation, no model; nothing here measures anything"
    assert "article   TTFR 148.2 ms: stated in the article" in text
    assert "assumed   decode rate at 512 tokens" in text
    assert "not_json=0.5 (all made up)" in text
    assert "every time is divided by 20" in text
    assert "recipe    qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml; it is no such engine" in text


@pytest.mark.slow
async def test_teaser_longer_than_the_policy_allows_is_flagged_without_any_fault() -> None:
    ask = Asks("imitation-mtp1", chance()).ask(Kind.LONG_TEASER)
    async with (
        shown(asked_for()) as told,
        aiohttp.ClientSession() as http,
        http.post(told.address("base_url") + ask.path, data=ask.body) as response,
    ):
        await response.read()

    assert (response.status, response.headers["x-sluicegate-outcome"]) == (200, "flagged")


@pytest.mark.slow
async def test_lane_has_the_variant_s_recipe_which_the_imitation_contradicts() -> None:
    async with shown(asked_for()) as told:
        page = await page_of(told.address("metrics"))

    assert re.search(r'recipe_info\{.*recipe="qwen3\.6-.*-mtp1-flashinfer-pinned"', page)
    assert 'contradictions{lane="main",switch="served_model_name"} 1.0' in page
    assert 'contradictions{lane="main",switch="speculative_tokens"} 0.0' in page


@pytest.mark.slow
@pytest.mark.parametrize("probe", [True, False])
async def test_engine_is_probed_only_where_that_is_wanted(*, probe: bool) -> None:
    wanted = replace(asked_for("cold_strict_json=1"), probe=probe)
    async with shown(wanted) as told:
        status, _ = await say_hello(told)
        page = await page_of(told.address("metrics"))

    assert status == 200
    assert f'probes_total{{lane="main",result="invalid"}} {int(probe)}.0' in page


@pytest.mark.slow
async def test_requests_wait_for_an_engine_that_restarts() -> None:
    """It is away for longer than one waits, and for less than two wait after each other."""
    async with shown(asked_for(speed=4.0)) as told:
        signal.raise_signal(signal.SIGHUP)
        page = ""
        while not re.search(r'ready_waits_total\{result="served"\} [1-9]', page):
            await say_hello(told)
            page = await page_of(told.address("metrics"))


async def test_requests_go_through_the_real_proxy() -> None:
    async with shown(asked_for()) as told:
        _, document = await say_hello(told)
        counts = await counts_of(told.address("metrics"))

    assert document["model"] == "imitation-mtp1"
    assert +counts["requests_total"] == {"passed": 1}


@pytest.mark.slow
async def test_load_tells_what_happens() -> None:
    async with shown(asked_for(rate=1.0)) as told:
        await told.until(lambda text: re.search(r"\d requests: \d+ passed", text) is not None)


@pytest.mark.slow
async def test_hangup_restarts_the_engine() -> None:
    wanted = asked_for("cold_strict_json=1", rate=0.5, speed=10.0)
    async with shown(wanted) as told:
        await told.until(lambda text: "1 engine starts: 1 invalid" in text)
        signal.raise_signal(signal.SIGHUP)
        await told.until(lambda text: text.count("1 engine starts: 1 invalid") > 1)


async def test_taken_port_of_prometheus_is_told_before_anything_starts() -> None:
    with bind("127.0.0.1", 0, "--port") as taken:
        wanted = replace(asked_for(), prometheus_port=taken.getsockname()[1])
        with pytest.raises(SettingsError, match="--prometheus-port"):
            async with shown(wanted):
                pass


async def test_without_prometheus_it_says_how_to_install_it_and_goes_on(
    unused_tcp_port: int,
) -> None:
    async with shown(replace(asked_for(), prometheus_port=unused_tcp_port)) as told:
        assert "apt install prometheus" in told.getvalue()


async def test_named_ledger_is_kept(tmp_path: Path) -> None:
    async with shown(replace(asked_for(), ledger=tmp_path / "kept.db")):
        pass

    assert (tmp_path / "kept.db").is_file()


def test_settings_let_limits_be_seen_at_work(tmp_path: Path) -> None:
    wanted = asked_for()

    settings = imitation_settings(wanted, tmp_path)

    assert (settings.admission.concurrent or 0) > wanted.imitation.variant.seats.value
    assert settings.ledger.address is not None
    assert settings.ledger.address.file == tmp_path / "ledger.db"


@pytest.mark.slow
@pytest.mark.timeout(180)
async def test_every_outcome_is_seen_in_the_metrics() -> None:
    """A stall ends by the demo's idle limit, which no speed shortens."""
    wanted = asked_for(*FAULTS, rate=0.8, speed=15.0)
    outcomes = {
        *("passed", "repaired", "flagged", "parked", "rejected", "refused"),
        *("upstream_failed", "timed_out", "client_gone"),
    }

    async with shown(wanted) as told:
        await told.until(lambda text: all(f" {outcome}" in text for outcome in outcomes))
        counts = await counts_of(told.address("metrics"))

    assert counts["engine_starts_total"]["invalid"] == 1
    assert counts["attempts_total"]["cold"] > 0
    assert counts["repairs_total"]["drop_think_tag"] > 0
