"""The gates' own cost as a command."""

import asyncio
import sys
from pathlib import Path

import pytest

GATES = Path(__file__).resolve().parents[2] / "benchmarks" / "gates.py"


@pytest.mark.slow
async def test_every_job_runs_and_has_its_row() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(GATES),
        "--quick",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await process.communicate()

    report = output.decode()
    assert process.returncode == 0
    for row in ("strict JSON, length", "strict JSON, schema", "watching records", "tool call"):
        assert f"| {row} |" in report
