"""The comparison as a command: its report has its rows; figures are nobody's promise."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

OVERHEAD = Path(__file__).resolve().parents[2] / "benchmarks" / "overhead.py"


async def run(*arguments: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(OVERHEAD),
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode()


@pytest.mark.slow
async def test_report_has_a_row_for_each_contender_and_can_be_made_again(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"

    code, report = await run(
        "--seconds", "0.2", "--rounds", "1", "--only", "direct,relay,pass", "--json", str(file)
    )
    _, again = await run("--from", str(file))

    first_cells = [line.split("|")[1].strip() for line in report.splitlines() if line[:1] == "|"]
    turns = json.loads(file.read_text())["turns"]
    assert code == 0
    assert first_cells.count("bare relay") == first_cells.count("Sluicegate, pass") >= 4
    assert [turn["peer"] for turn in turns] == ["direct", "relay", "pass"]
    assert [figures["errors"] for turn in turns for figures in turn["figures"].values()] == [0] * 15
    assert again == report


async def test_unknown_contender_is_a_usage_error() -> None:
    code, report = await run("--only", "direct,nobody")

    assert code == 2
    assert report == ""
