"""The benchmark of pauses as a command: its report has its rows; figures are nobody's promise."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

PAUSES = Path(__file__).resolve().parents[2] / "benchmarks" / "pauses.py"


async def run(*arguments: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(PAUSES),
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode()


@pytest.mark.slow
async def test_report_has_a_row_for_each_phase_in_each_table(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"

    code, report = await run(
        *("--seconds", "2", "--rounds", "1", "--json", str(file)),
        *("--only", "alone", "scraped in a loop", "small", "long", "long, judged here"),
    )

    first_cells = [line.split("|")[1].strip() for line in report.splitlines() if line[:1] == "|"]
    turns = json.loads(file.read_text())["turns"]
    assert code == 0
    assert first_cells.count("small") == first_cells.count("long, judged here") == 2
    assert [turn["phase"] for turn in turns] == [
        *("alone", "scraped in a loop", "small", "long", "long, judged here")
    ]
    assert [turn["streams"]["errors"] for turn in turns] == [0] * 5
    assert [bool(turn["scrapes"]["done"]) for turn in turns] == [False, True, False, False, False]
    assert [turn["scrapes"]["failed"] for turn in turns] == [0] * 5


async def test_unknown_phase_is_a_usage_error() -> None:
    code, report = await run("--only", "alone", "nothing")

    assert code == 2
    assert report == ""
