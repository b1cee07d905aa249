"""A recipe, and an engine on a socket that does not run it: told in log, /ready and metrics."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from proxy.errors import SettingsError
from tests.fakes.gate import Gate, eventually, running_gate
from tests.fakes.served_recipe import MTP1_FLAGS, write_recipe
from tests.fakes.upstream import FakeUpstream, Scripted, completion, fake_upstream

ASKED = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}]}
PAGE = """\
process_start_time_seconds {started_at}
vllm:prompt_tokens_total{{engine="0",model_name="tiny"}} 0
vllm:cache_config_info{{cache_dtype="fp8",enable_prefix_caching="True",engine="0",\
gpu_memory_utilization="0.7"}} 1
vllm:spec_decode_num_drafts_total{{engine="0",model_name="tiny"}} 0
"""
POSITION = (
    "vllm:spec_decode_num_accepted_tokens_per_pos_total"
    '{{engine="0",model_name="tiny",position="{position}"}} 0\n'
)
MODELS = {"data": [{"id": "tiny", "root": "owner/tiny", "max_model_len": 2048}]}


def _runs(upstream: FakeUpstream, started_at: float, draft_tokens: int) -> None:
    """Let the upstream be an engine start with so many draft tokens a step."""
    text = PAGE.format(started_at=started_at)
    text += "".join(POSITION.format(position=position) for position in range(draft_tokens))
    upstream.pages["/metrics"] = Scripted((text.encode(),))
    upstream.pages["/version"] = Scripted((b'{"version":"0.32.0"}',))
    upstream.pages["/v1/models"] = Scripted((json.dumps(MODELS).encode(),))


async def _ready(gate: Gate) -> tuple[int, Any]:
    async with gate.http.get(f"{gate.admin_url}/ready") as response:
        return response.status, await response.json()


def _warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


async def _compared(gate: Gate, key: str) -> None:
    """Wait until the facts of this start are known."""

    def is_known() -> bool:
        record = gate.app.engine.record
        return record is not None and record.key == key and "max_model_len" in record.facts

    await eventually(is_known)


async def test_engine_with_two_draft_tokens_behind_an_mtp1_recipe_is_told_until_it_is_restarted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"lanes.main.recipe": str(write_recipe(tmp_path))}
    async with fake_upstream(completion()) as upstream:
        _runs(upstream, 1.5, draft_tokens=2)
        async with running_gate(upstream.url, settings) as gate:
            response, _ = await gate.chat(ASKED)
            wrong, wrong_metrics = await _ready(gate), await gate.metrics()
            warned = _warnings(caplog)
            await upstream.refuse()
            _runs(upstream, 2.5, draft_tokens=1)
            await upstream.listen()
            await _compared(gate, "2.5")
            right, right_metrics = await _ready(gate), await gate.metrics()

    contradiction = {
        "switch": "speculative_tokens",
        "recipe": "1",
        "server": "2",
        "remedy": "start the engine with `num_speculative_tokens` 1 in `--speculative-config`, "
        "or name the recipe that it runs",
    }
    series = 'sluicegate_recipe_contradictions{lane="main",switch="speculative_tokens"}'
    recipe = wrong[1]["lanes"]["main"]["recipe"]
    assert response.status == 200
    assert (wrong[0], recipe["name"], recipe["contradictions"]) == (
        200,
        "tiny-mtp1",
        [contradiction],
    )
    assert (right[0], right[1]["lanes"]["main"]["recipe"]) == (
        200,
        {**recipe, "contradictions": []},
    )
    assert (wrong_metrics[series], right_metrics[series]) == (1, 0)
    assert len(warned) == 1
    assert "engine start 1.5: speculative_tokens is 2 at the server" in warned[0]
    assert _warnings(caplog) == warned


async def test_wrong_start_is_warned_of_once_however_often_it_is_looked_at(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = {"lanes.main.recipe": str(write_recipe(tmp_path))}
    async with fake_upstream() as upstream:
        _runs(upstream, 1.5, draft_tokens=0)
        async with running_gate(upstream.url, settings) as gate:
            _runs(upstream, 2.5, draft_tokens=3)
            await _compared(gate, "2.5")
            looked = len(upstream.received)
            await eventually(lambda: len(upstream.received) > looked + 3)

    assert len(_warnings(caplog)) == 1


async def test_ledger_keeps_recipe_and_contradictions_with_the_start(tmp_path: Path) -> None:
    settings = {
        "lanes.main.recipe": str(write_recipe(tmp_path)),
        "ledger.url": f"sqlite:///{tmp_path}/ledger.db",
    }
    async with fake_upstream() as upstream:
        _runs(upstream, 1.5, draft_tokens=3)
        async with running_gate(upstream.url, settings) as gate:
            await _compared(gate, "1.5")
        _runs(upstream, 1.5, draft_tokens=3)
        settings["lanes.main.recipe"] = str(
            write_recipe(tmp_path, MTP1_FLAGS.replace(":1}", ":3}"))
        )
        async with running_gate(upstream.url, settings) as gate:
            await _compared(gate, "1.5")
            remembered = gate.app.engine.record
            state = (await _ready(gate))[1]["lanes"]["main"]["recipe"]

    assert remembered is not None
    assert remembered.facts["contradicts"] == "speculative_tokens"
    assert state["contradictions"] == []


async def test_lane_without_a_recipe_compares_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with fake_upstream() as upstream:
        _runs(upstream, 1.5, draft_tokens=3)
        async with running_gate(upstream.url) as gate:
            await _compared(gate, "1.5")
            status, body = await _ready(gate)
            metrics = await gate.metrics()

    assert (status, body["lanes"]["main"]["recipe"]) == (200, None)
    assert not [name for name in metrics if "recipe" in name]
    assert _warnings(caplog) == []


async def test_engine_that_is_away_leaves_the_recipe_uncompared(tmp_path: Path) -> None:
    settings = {"lanes.main.recipe": str(write_recipe(tmp_path))}
    async with fake_upstream() as upstream:
        await upstream.refuse()
        async with running_gate(upstream.url, settings) as gate:
            status, body = await _ready(gate)

    assert status == 503
    assert body["lanes"]["main"]["recipe"]["contradictions"] is None


@pytest.mark.parametrize(
    ("chosen", "said"), [({}, 1), ({"slo.ttfr_seconds": 0.2}, 0)], ids=["default", "chosen"]
)
async def test_default_objective_is_doubted_for_another_recipe_and_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, chosen: dict[str, object], said: int
) -> None:
    caplog.set_level(logging.INFO, "proxy")
    settings = {"lanes.main.recipe": str(write_recipe(tmp_path)), **chosen}
    async with fake_upstream() as upstream, running_gate(upstream.url, settings) as gate:
        _, body = await _ready(gate)

    lines = [record.getMessage() for record in caplog.records]
    assert len([line for line in lines if "left at its default of 0.2 s" in line]) == said
    assert body["slo"] == {"ttfr_seconds": 0.2, "is_default": not chosen}


async def test_probe_stays_within_the_length_of_the_recipe_where_the_engine_tells_none(
    tmp_path: Path,
) -> None:
    flags = "--served-model-name tiny --max-model-len 64"
    settings = {
        "lanes.main.recipe": str(write_recipe(tmp_path, flags)),
        "lanes.main.probe.valid": 1,
    }
    async with fake_upstream(completion('{"check": 1, "ready": true}')) as upstream:
        upstream.pages["/v1/models"] = Scripted((b'{"data":[{"id":"tiny"}]}',))
        async with running_gate(upstream.url, settings):
            await eventually(lambda: bool(upstream.calls))

    asked = upstream.calls[0].json
    assert (asked["model"], asked["max_tokens"]) == ("tiny", 32)


async def test_recipe_with_mistakes_stops_the_start_with_all_of_them(tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path, "--max-model-len many --max-num-seqs 0")

    with pytest.raises(SettingsError) as refused:
        async with running_gate("http://127.0.0.1:9", {"lanes.main.recipe": str(recipe)}):
            pass

    messages = [problem.message for problem in refused.value.problems]
    assert [message.partition("`")[2].partition("`")[0] for message in messages] == [
        "--max-model-len",
        "--max-num-seqs",
    ]
    assert all(problem.place.line for problem in refused.value.problems)
