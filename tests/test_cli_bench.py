"""The command `bench contract` as a process, and what it says to wrong arguments."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from proxy.cli import main
from tests.fakes.contract import CASES, FURTHER_CALLS, MODELS, answers, good
from tests.fakes.gate import eventually
from tests.fakes.upstream import End, Scripted, completion, fake_upstream

ROOT = Path(__file__).parents[1]
NOWHERE = "http://127.0.0.1:1"


async def spawn(*arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(ROOT / "sluicegate.py"),
        *("bench", "contract", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


async def test_one_run_prints_the_table_and_ends_well() -> None:
    async with fake_upstream(*answers()) as upstream:
        upstream.pages["/v1/models"] = MODELS
        process = await spawn("--base-url", f"{upstream.url}/v1", "--runs", "1")
        out, err = await process.communicate()

    lines = [" ".join(line.split()) for line in out.decode().splitlines()]
    assert process.returncode == 0, err
    assert f"calls of the server 16 {16 + FURTHER_CALLS}" in lines
    assert b"16/16" in err


async def test_interrupt_prints_what_is_there() -> None:
    hangs = Scripted((b"{",), end=End.HANG)
    async with fake_upstream(completion(good(CASES[0])), hangs) as upstream:
        upstream.pages["/v1/models"] = MODELS
        process = await spawn("--base-url", upstream.url, "--json")
        await eventually(lambda: len(upstream.calls) == 2, seconds=20)
        process.send_signal(signal.SIGINT)
        out, err = await process.communicate()

    document = json.loads(out)
    assert process.returncode == 130, err
    assert len(document["trials"]) == 1
    assert document["complete"] is False


def test_server_that_is_not_there_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "contract", "--base-url", NOWHERE]) == 2
    assert f"error: {NOWHERE}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--base-url", "here"], "--base-url: `here`"),
        (["--base-url", NOWHERE, "--api-key-env", "SLUICEGATE_NOT_SET"], "SLUICEGATE_NOT_SET"),
        (["--base-url", NOWHERE, "--policy", "absent.yaml"], "absent.yaml"),
        (["--base-url", NOWHERE, "--cases", "absent"], "absent: there are no cases"),
    ],
    ids=["address", "key", "policy", "cases"],
)
def test_mistake_ends_with_2_and_its_place(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "contract", *arguments]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("runs", ["0", "-1", "three", "10000"])
def test_runs_are_a_number_above_0(runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["bench", "contract", "--base-url", NOWHERE, "--runs", runs])

    assert ended.value.code == 2
    assert "no whole number" in capsys.readouterr().err
