import asyncio
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proxy.bench.contract_cases import CaseError
from proxy.bench.contract_command import ContractBench, ContractOptions, key_from
from proxy.bench.contract_server import UnusableServer
from proxy.data_files import policies_folder
from proxy.errors import ConfigError, SettingsError
from tests.fakes.contract import CASES, FURTHER_CALLS, MODELS, answers, good
from tests.fakes.gate import eventually, running_gate
from tests.fakes.upstream import End, FakeUpstream, Scripted, completion, fake_upstream

RUNS = 3
NOWHERE = ContractOptions("http://127.0.0.1:1", 1)


@asynccontextmanager
async def served(*script: Scripted) -> AsyncIterator[FakeUpstream]:
    async with fake_upstream(*script) as upstream:
        upstream.pages["/v1/models"] = MODELS
        yield upstream


def told(bench: ContractBench) -> Any:
    return json.loads(bench.report.json())


def shares(side: Any) -> list[tuple[int, int]]:
    both = (side["usable"]["short_text"], side["usable"]["teaser"], side["borne"])
    return [(share["hits"], share["of"]) for share in both]


async def test_figures_of_known_answers_are_exact() -> None:
    script = [reply for _ in range(RUNS) for reply in answers()]
    async with served(*script) as upstream:
        bench = ContractBench(ContractOptions(f"{upstream.url}/v1", RUNS), io.StringIO())
        await bench.run()

    document = told(bench)
    before, after = document["before"], document["after"]
    assert document["complete"] is True
    assert not upstream.script
    assert shares(before) == [(15, 24), (18, 24), (30, 48)]
    assert shares(after) == [(15, 24), (21, 24), (36, 48)]
    assert before["faults"] == {
        "short_text": {"too_long": 3, "overconfident": 3, "not_json": 3},
        "teaser": {"too_short": 3, "missing_fact": 3, "needless_abstention": 3},
    }
    assert after["faults"] == {
        "short_text": {"kept_back": 9},
        "teaser": {"too_short": 3, "missing_fact": 3},
    }
    assert (before["typed"], after["typed"]) == ({"number": 3}, {})
    assert [side["abstained_on_thin"]["hits"] for side in (before, after)] == [9, 9]
    assert [side["abstained_on_rich"]["hits"] for side in (before, after)] == [3, 0]
    assert (after["flagged"], after["kept_back"]) == (3, 9)
    assert (before["calls"], after["calls"]) == (48, 48 + RUNS * FURTHER_CALLS)


async def test_table_shows_the_same_figures() -> None:
    async with served(*answers()) as upstream:
        bench = ContractBench(ContractOptions(upstream.url, 1), io.StringIO())
        await bench.run()

    lines = [" ".join(line.split()) for line in bench.report.lines()]
    assert "usable short texts 5/8 (31–86 %) 5/8 (31–86 %)" in lines  # noqa: RUF001
    assert "usable teasers 6/8 (41–93 %) 7/8 (53–98 %)" in lines  # noqa: RUF001
    assert "kept back (parked, rejected) - 3" in lines


async def test_progress_is_told_while_it_runs() -> None:
    err = io.StringIO()
    async with served(*answers()) as upstream:
        await ContractBench(ContractOptions(upstream.url, 1), err).run()

    assert err.getvalue().splitlines()[-1] == f"16/16 {CASES[-1].name}, run 1"


async def test_interrupted_measurement_keeps_what_is_there() -> None:
    hangs = Scripted((b"{",), end=End.HANG)
    async with served(completion(good(CASES[0])), hangs) as upstream:
        bench = ContractBench(ContractOptions(upstream.url, 1), io.StringIO())
        running = asyncio.create_task(bench.run())
        await eventually(lambda: len(upstream.calls) == 2)
        running.cancel()
        await asyncio.wait({running})

    document = told(bench)
    assert bench.has_ended_early
    assert (document["complete"], len(document["trials"])) == (False, 1)
    assert document["ended"] == "It was interrupted."


async def test_server_that_leaves_is_told_with_what_is_there() -> None:
    async with served(completion(good(CASES[0]))) as upstream:
        upstream.script += [Scripted((b"{",), end=End.CUT)] * 20
        bench = ContractBench(ContractOptions(upstream.url, 1), io.StringIO())
        await bench.run()

    assert bench.has_ended_early
    assert "No answer 3 times in a row" in told(bench)["ended"]
    assert len(told(bench)["trials"]) == 4


async def test_server_without_one_answer_is_an_error() -> None:
    with pytest.raises(UnusableServer, match="--base-url"):
        await ContractBench(NOWHERE, io.StringIO()).run()


async def test_running_proxy_is_measured_behind_its_own_gates() -> None:
    settings: dict[str, object] = {
        "policies.order": ["editorial-de", "production"],
        "policies.by_header": ["editorial-de"],
    }
    async with served(*answers()) as upstream, running_gate(upstream.url, settings) as gate:
        bench = ContractBench(ContractOptions(gate.url, 1), io.StringIO())
        await bench.run()

    document = told(bench)
    assert document["before"] is None
    assert shares(document["after"]) == [(5, 8), (7, 8), (12, 16)]
    assert document["after"]["calls"] == 16 + FURTHER_CALLS


async def test_proxy_that_does_not_know_the_policy_says_so() -> None:
    async with served() as upstream, running_gate(upstream.url) as gate:
        bench = ContractBench(ContractOptions(gate.url, 1, model="tiny"), io.StringIO())
        with pytest.raises(UnusableServer, match="no policy `editorial-de`"):
            await bench.run()


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "http://a b", "http://u:p@h", "ftp://h"])
def test_wrong_address_is_told_by_its_flag(url: str) -> None:
    with pytest.raises(SettingsError, match="--base-url"):
        ContractBench(replace(NOWHERE, base_url=url), io.StringIO())


def test_other_policy_and_other_cases_may_be_named(tmp_path: Path) -> None:
    production = policies_folder() / "production.yaml"

    bench = ContractBench(replace(NOWHERE, policy=production), io.StringIO())

    assert told(bench)["policy"].startswith("production@")
    with pytest.raises(CaseError):
        ContractBench(replace(NOWHERE, cases=tmp_path), io.StringIO())
    with pytest.raises(ConfigError, match="no such file"):
        ContractBench(replace(NOWHERE, policy=tmp_path / "x.yaml"), io.StringIO())


def test_key_comes_from_a_variable() -> None:
    assert key_from({"KEY": "k"}, "KEY") == "k"
    assert key_from({}, None) is None
    with pytest.raises(SettingsError, match="KEY is not set"):
        key_from({"KEY": ""}, "KEY")
