import asyncio
import io
import json
import socket
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest
from hypothesis import given
from hypothesis import settings as examples

from proxy.errors import RecipeError, SettingsError
from proxy.launch.command import INTERRUPTED, OK, Launch, VllmMissing, prepare, run
from proxy.launch.display import Display
from proxy.launch.engine_end import EngineDied
from proxy.launch.options import UpOptions
from proxy.launch.plan import LaunchPlan, launch_plan
from proxy.ledger.address import read_address
from proxy.ledger.queries import read_starts
from proxy.recipes.reading import open_recipe
from tests.engines.server import free_port
from tests.fakes.launch import (
    BOOT_LOG,
    COLD_METRICS,
    NOW,
    Screen,
    environ,
    prepared,
    reading_at,
    running,
    stand_in,
)
from tests.launch.test_plan import document, hostile_documents
from tests.recipes.made import reading_of

QUIET: Final = UpOptions(ledger_url="none")
# What a Python adds to its own environment.
_OF_PYTHON: Final = {"LC_CTYPE"}


async def test_engine_is_shown_booting_stored_and_stopped(tmp_path: Path) -> None:
    options = UpOptions(ledger_url=f"sqlite:///{tmp_path}/ledger.db")
    launch = prepared(tmp_path, options, log=BOOT_LOG, metrics=COLD_METRICS)
    async with running(launch) as up:
        await up.ready()
        shown = up.screen.getvalue()
        up.stop.tell()
        code = await up.task
    (start,) = read_starts(read_address(f"sqlite:///{tmp_path}/ledger.db"), None, None)

    assert code == OK
    assert shown.startswith("tiny recipe (")
    assert "\n  weights " in shown
    assert f"{launch.address.url}/v1" in shown
    assert str(launch.log) in shown
    assert up.screen.getvalue().endswith("Stopped; no process of the engine is left.\n")
    assert start.facts["recipe"].startswith("tiny recipe@")
    assert start.facts["kv_cache_tokens"] == "45056"
    assert launch.log.read_text() == BOOT_LOG.read_text()


async def test_stop_while_it_boots_is_an_interruption(tmp_path: Path) -> None:
    async with running(prepared(tmp_path, hangs=True, log=BOOT_LOG)) as up:
        await up.screen.shows("engine")
        up.stop.tell()

        assert await up.task == INTERRUPTED


async def test_proxy_in_front_answers_and_hears_of_the_engine(tmp_path: Path) -> None:
    options = UpOptions(with_proxy=True, port=0, admin_port=0, ledger_url="none")
    launch = prepared(tmp_path, options, log=BOOT_LOG, metrics=COLD_METRICS)
    async with running(launch) as up:
        await up.ready()
        rows = dict(line.split(maxsplit=1) for line in up.screen.getvalue().splitlines() if line)
        admin = rows["metrics"].removesuffix("/metrics")
        lane = await _lane(admin)
        up.stop.tell()

        assert await up.task == OK

    assert rows["base_url"].endswith("/v1")
    assert lane["recipe"]["name"] == "tiny recipe"


async def _lane(admin_url: str) -> Any:
    """What /ready says of the main lane."""
    async with aiohttp.ClientSession() as http, http.get(f"{admin_url}/ready") as told:
        return (await told.json())["lanes"]["main"]


async def test_early_death_ends_the_proxy_too(tmp_path: Path) -> None:
    options = UpOptions(with_proxy=True, port=0, admin_port=0, ledger_url="none")
    launch = prepared(tmp_path, options, dies=3)

    with pytest.raises(EngineDied, match="status 3"):
        await run(launch, Display(Screen(), {}))


async def test_user_in_a_hurry_ends_a_deaf_engine_at_once(tmp_path: Path) -> None:
    launch = prepared(tmp_path, replace(QUIET, stop_seconds=600), deaf=True)
    async with running(launch) as up:
        await up.ready()
        up.stop.tell()
        up.stop.tell()

        assert await up.task == OK


async def test_deaf_engine_is_ended_when_its_time_is_over(tmp_path: Path) -> None:
    launch = prepared(tmp_path, replace(QUIET, stop_seconds=0.05), deaf=True)
    async with running(launch) as up:
        await up.ready()
        up.stop.tell()

        assert await up.task == OK


def test_port_in_use_is_told_before_anything_starts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        reading = reading_at(tmp_path, taken.getsockname()[1])

        with pytest.raises(SettingsError, match="already in use"):
            prepare(reading, replace(QUIET, vllm=stand_in(tmp_path)), environ(), NOW)


def test_machine_without_vllm_is_told_what_to_do(tmp_path: Path) -> None:
    reading = reading_at(tmp_path, free_port())

    with pytest.raises(VllmMissing, match=r"--vllm.*--docker"):
        prepare(reading, QUIET, {"PATH": str(tmp_path)}, NOW)


def test_recipe_that_cannot_be_launched_is_refused_with_the_options_that_help(
    tmp_path: Path,
) -> None:
    reading = reading_of(tmp_path, document(mods=["mods/x"], env={"PATH": "/x"}))
    options = replace(QUIET, vllm=stand_in(tmp_path))

    with pytest.raises(RecipeError, match="--ignore-mods"):
        prepare(reading, options, environ(), NOW)


def test_logs_are_kept_where_the_system_keeps_state(tmp_path: Path) -> None:
    reading = reading_at(tmp_path, free_port())
    options = replace(QUIET, vllm=stand_in(tmp_path))

    launch = prepare(reading, options, {**environ(), "XDG_STATE_HOME": "/var/state"}, NOW)

    assert launch.log.parent == Path("/var/state/sluicegate/engines")


def test_wrong_settings_are_told_before_anything_starts(tmp_path: Path) -> None:
    config = tmp_path / "sluicegate.yaml"
    config.write_text("slo: {ttfr_seconds: soon}\n")

    with pytest.raises(SettingsError, match=r"sluicegate\.yaml:1:"):
        prepared(tmp_path, UpOptions(config=config, ledger_url="none"))


async def _told_by_the_child(folder: Path, plan: LaunchPlan, launch: Launch) -> Any:
    """What the stand-in says it was started with; it ends at once."""
    tells = folder / "told.json"
    about = replace(launch, plan=plan, environ=environ(tells=tells, ends=True))
    with pytest.raises(EngineDied):
        await run(about, Display(io.StringIO(), {}))
    return json.loads(tells.read_text())


@pytest.mark.slow
@examples(max_examples=30)
@given(hostile_documents("CANARY"))
def test_no_recipe_text_makes_the_child_another_one(text: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        launch = prepared(folder)
        path = folder / "hostile.yaml"
        path.write_bytes(text.replace("CANARY", f"{folder}/CANARY").encode())
        program = (str(stand_in(folder)),)
        try:
            reading = open_recipe(path)
            plan = launch_plan(reading, program)
        except RecipeError:
            return
        recipe, before = reading.whole(), set(folder.iterdir())

        told = asyncio.run(_told_by_the_child(folder, plan, launch))

        ours = environ(tells=folder / "told.json", ends=True)
        assert told["arguments"] == ["serve", *recipe.command.arguments]
        assert {**told["environment"], **recipe.environment} == told["environment"]
        assert told["environment"].keys() - _OF_PYTHON == (
            {name for name in ours if not name.startswith("SLUICEGATE_")}
            | recipe.environment.keys()
        )
        assert set(folder.iterdir()) - before <= {folder / "told.json", folder / "logs"}
