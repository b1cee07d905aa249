"""The ledger behind a running proxy: what is kept, what is remembered, and what breaks nothing."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from proxy.ledger.address import LedgerAddress, read_address
from proxy.ledger.queries import RequestFilter, read_requests, read_starts
from proxy.ledger.trouble import LedgerTrouble
from proxy.telemetry.engine_start import EngineStartRecord, FirstAnswer, StartSource
from proxy.telemetry.record import RequestRecord
from tests.fakes.databases import locked_by_another_process, rows_of
from tests.fakes.gate import Gate, eventually, running_gate
from tests.fakes.upstream import FakeUpstream, Scripted, completion, fake_upstream

ROOT = Path(__file__).parents[2]
SECRET_PROMPT, SECRET_REPLY = "the aunt in Ulm", "is called Adelheid"
ASKED: dict[str, Any] = {
    "model": "tiny",
    "messages": [{"role": "user", "content": SECRET_PROMPT}],
    "response_format": {"type": "json_object"},
}
GOOD = json.dumps({"aunt": SECRET_REPLY})
BAD = "{" + GOOD
POLICY = """\
format: 1
name: {name}
match: {{models: ["{name}*"]}}
record: {record}
gates: {{strict_json: {{on_fail: [same, reject]}}}}
"""


@pytest.fixture
def ledger(tmp_path: Path) -> LedgerAddress:
    return read_address(f"sqlite:///{tmp_path}/ledger.db")


def engine_page(started_at: float, prompt_tokens: int = 0) -> Scripted:
    """The metrics of an engine that was started then."""
    page = (
        f"process_start_time_seconds {started_at}\n"
        f'vllm:request_success_total{{model_name="tiny"}} 0.0\n'
        f'vllm:prompt_tokens_total{{model_name="tiny"}} {prompt_tokens}.0\n'
        f'vllm:generation_tokens_total{{model_name="tiny"}} 0.0\n'
    )
    return Scripted((page.encode(),), content_type="text/plain")


@asynccontextmanager
async def gate_with(
    ledger: LedgerAddress, upstream: FakeUpstream, more: Mapping[str, object] | None = None
) -> AsyncIterator[Gate]:
    settings = {"ledger.url": ledger.url, **(more or {})}
    async with running_gate(upstream.url, settings) as gate:
        yield gate


async def engine_of(gate: Gate) -> str:
    async with gate.http.get(f"{gate.admin_url}/ready") as ready:
        state: str = (await ready.json())["lanes"]["main"]["engine"]
        return state


def kept(ledger: LedgerAddress) -> list[RequestRecord]:
    try:
        return read_requests(ledger, RequestFilter())
    except LedgerTrouble:
        return []


def start_of(ledger: LedgerAddress) -> EngineStartRecord:
    (start,) = read_starts(ledger)
    return start


async def test_restarted_proxy_takes_a_certified_engine_for_what_it_is(
    ledger: LedgerAddress,
) -> None:
    async with fake_upstream(completion(BAD), completion(GOOD)) as upstream:
        upstream.pages["/metrics"] = engine_page(1_796_000_000.25)
        async with gate_with(ledger, upstream) as gate:
            await gate.chat(ASKED)
        upstream.pages["/metrics"] = engine_page(1_796_000_000.25, prompt_tokens=20)
        upstream.script.append(completion(GOOD))
        async with gate_with(ledger, upstream) as gate:
            state = await engine_of(gate)
            response, _ = await gate.chat(ASKED)
            record = await gate.record(response)
            metrics = await gate.metrics()

    assert state == "certified"
    assert record["attempts"][0]["cold"] is False
    assert metrics['sluicegate_engine_starts_total{first_answer="invalid",lane="main"}'] == 0
    start = start_of(ledger)
    assert (start.told_by, start.untouched) == (StartSource.METRICS, True)
    assert (start.first_answer, start.first_fault) == (FirstAnswer.INVALID, "leading_junk")
    assert (start.retry_step, start.retry_valid, start.cured_by) == ("cold", True, "cold")


async def test_engine_that_was_started_anew_is_cold_again(ledger: LedgerAddress) -> None:
    async with fake_upstream(completion(GOOD)) as upstream:
        upstream.pages["/metrics"] = engine_page(1_796_000_000.25)
        async with gate_with(ledger, upstream) as gate:
            await gate.chat(ASKED)
        upstream.pages["/metrics"] = engine_page(1_796_000_777.5)
        async with gate_with(ledger, upstream) as gate:
            state = await engine_of(gate)

    assert state == "cold"
    starts = read_starts(ledger)
    assert [start.started_at for start in starts] == [1_796_000_000.25, 1_796_000_777.5]
    assert [start.first_answer for start in starts] == [FirstAnswer.VALID, FirstAnswer.UNKNOWN]


async def test_without_a_ledger_a_restarted_proxy_calls_a_warm_engine_cold() -> None:
    async with fake_upstream(completion(GOOD)) as upstream:
        upstream.pages["/metrics"] = engine_page(1_796_000_000.25)
        async with running_gate(upstream.url) as gate:
            await gate.chat(ASKED)
            warm = await engine_of(gate)
        async with running_gate(upstream.url) as gate:
            state = await engine_of(gate)
            metrics = await gate.metrics()

    assert (warm, state) == ("certified", "cold")
    assert "sluicegate_ledger_up" not in metrics


async def test_request_is_kept_with_its_attempts_and_verdicts_and_without_any_text(
    ledger: LedgerAddress,
) -> None:
    assert ledger.file
    async with (
        fake_upstream(completion(BAD), completion(GOOD)) as upstream,
        gate_with(ledger, upstream) as gate,
    ):
        response, _ = await gate.chat(ASKED)
        told = await gate.record(response)
        await eventually(lambda: kept(ledger) != [])
        metrics = await gate.metrics()
        files = b"".join(file.read_bytes() for file in ledger.file.parent.glob("ledger.db*"))

    (request,) = kept(ledger)
    assert request.id == response.headers["x-request-id"] == told["id"]
    assert [attempt.faults for attempt in request.attempts] == [("leading_junk",), ()]
    assert [verdict.result for verdict in request.verdicts] == ["pass", "skip"]
    assert (metrics["sluicegate_ledger_up"], metrics["sluicegate_ledger_dropped_total"]) == (1, 0)
    assert SECRET_PROMPT.encode() not in files
    assert SECRET_REPLY.encode() not in files


async def test_policy_says_whether_its_requests_are_kept(
    ledger: LedgerAddress, tmp_path: Path
) -> None:
    policies = tmp_path / "policies"
    policies.mkdir()
    for name, record in (("kept", "verdicts"), ("passed", "none")):
        (policies / f"{name}.yaml").write_text(POLICY.format(name=name, record=record))
    settings = {"policies.folder": str(policies), "policies.order": "[kept, passed]"}
    async with (
        fake_upstream(*(completion(GOOD) for _ in range(3))) as upstream,
        gate_with(ledger, upstream, settings) as gate,
    ):
        for model in ("passed", "other", "kept"):
            response, _ = await gate.chat(ASKED | {"model": model})
            assert response.status == 200

    assert [request.policy and request.policy[:5] for request in kept(ledger)] == ["kept@"]


@pytest.mark.parametrize(
    "trouble",
    ["no database", "no folder", pytest.param("locked", marks=pytest.mark.slow), "unreachable"],
)
async def test_ledger_in_trouble_breaks_neither_start_nor_request(
    tmp_path: Path, ledger: LedgerAddress, trouble: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert ledger.file
    address = ledger
    if trouble == "no database":
        ledger.file.write_text("no database\n" * 100)
    elif trouble == "no folder":
        address = read_address(f"sqlite:///{tmp_path}/not/there.db")
    elif trouble == "unreachable":
        address = read_address("postgresql://me:s3cret@127.0.0.1:1/x")
    async with fake_upstream(completion(GOOD)) as upstream:
        if trouble == "locked":
            with locked_by_another_process(ledger.file, "BEGIN EXCLUSIVE"):
                metrics, ready = await _served(address, upstream)
        else:
            metrics, ready = await _served(address, upstream)

    assert metrics["sluicegate_ledger_up"] == 0
    assert metrics['sluicegate_requests_total{endpoint="chat",outcome="passed"}'] == 1
    assert "s3cret" not in caplog.text + ready
    assert f"The ledger {address.shown}" in caplog.text


async def _served(address: LedgerAddress, upstream: FakeUpstream) -> tuple[dict[str, float], str]:
    """One request through a proxy whose ledger does not work: its metrics, and /ready."""
    async with gate_with(address, upstream) as gate:
        response, received = await gate.chat(ASKED)
        assert (
            response.status,
            GOOD in json.loads(received)["choices"][0]["message"].values(),
        ) == (
            200,
            True,
        )
        async with gate.http.get(f"{gate.admin_url}/ready") as ready:
            return await gate.metrics(), await ready.text()


@asynccontextmanager
async def serving(
    folder: Path, upstream: FakeUpstream, environ: Mapping[str, str]
) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """`sluicegate serve` as a process of its own, with a settings file in the folder."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = folder / "sluicegate.yaml"
    settings.write_text(f'lanes: {{main: {{url: "{upstream.url}"}}}}\n')
    ports = ("--port", str(port), "--admin-port", "0")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(ROOT / "sluicegate.py"), "serve", "--config", str(settings), *ports),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environ},
    )
    assert process.stderr
    try:
        async with asyncio.timeout(30):
            while b"policies" not in await process.stderr.readline():
                pass
        yield process, f"http://127.0.0.1:{port}/v1/chat/completions"
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def test_killed_proxy_leaves_a_sound_ledger_without_its_last_batch_at_most(
    tmp_path: Path,
) -> None:
    ledger = read_address(f"sqlite:///{tmp_path}/sluicegate.db")
    assert ledger.file
    async with (
        fake_upstream(*(completion(GOOD) for _ in range(25))) as upstream,
        serving(tmp_path, upstream, {}) as (process, url),
        aiohttp.ClientSession() as http,
    ):
        for _ in range(20):
            async with http.post(url, json=ASKED) as response:
                assert response.status == 200
        await eventually(lambda: len(kept(ledger)) == 20, 20)
        for _ in range(5):
            async with http.post(url, json=ASKED) as response:
                assert response.status == 200
        process.send_signal(signal.SIGKILL)
        await process.wait()

    assert rows_of(ledger.file, "PRAGMA integrity_check") == [("ok",)]
    assert 20 <= len(kept(ledger)) <= 25


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_stopped_proxy_has_written_everything(tmp_path: Path) -> None:
    async with (
        fake_upstream(*(completion(GOOD) for _ in range(10))) as upstream,
        serving(tmp_path, upstream, {}) as (process, url),
        aiohttp.ClientSession() as http,
    ):
        for _ in range(10):
            async with http.post(url, json=ASKED) as response:
                assert response.status == 200
        process.send_signal(signal.SIGTERM)
        await process.communicate()

    assert names_in(tmp_path) == {"sluicegate.db", "sluicegate.yaml"}
    assert len(kept(read_address(f"sqlite:///{tmp_path}/sluicegate.db"))) == 10


async def test_password_of_the_ledger_is_nowhere_in_what_serve_prints(tmp_path: Path) -> None:
    environ = {"SLUICEGATE_LEDGER__URL": "postgresql://me:s3cret@127.0.0.1:1/x"}
    async with (
        fake_upstream() as upstream,
        serving(tmp_path, upstream, environ) as (process, _),
    ):
        process.send_signal(signal.SIGTERM)
        out, err = await process.communicate()

    assert b"s3cret" not in out + err
