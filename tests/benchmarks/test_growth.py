"""Growth as a command."""

import asyncio
import sys
from pathlib import Path

import pytest

GROWTH = Path(__file__).resolve().parents[2] / "benchmarks" / "growth.py"


async def run(*arguments: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(GROWTH),
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode()


@pytest.mark.slow
async def test_report_has_a_row_for_each_size_that_was_measured() -> None:
    code, report = await run("--quick", "--rounds", "1", "--only", "tool call stream", "policies")

    lines = [line for line in report.splitlines() if "one event |" in line]
    assert code == 0
    assert [line.split("|")[1:3] for line in lines] == [
        [" tool call stream: one event ", " 128 "],
        [" tool call stream: one event ", " 512 "],
        [" policies: one event ", " 1 "],
        [" policies: one event ", " 10 "],
    ]


async def test_unknown_axis_is_a_usage_error() -> None:
    code, report = await run("--only", "nothing")

    assert code == 2
    assert report == ""
