"""The soak as a command: nothing of a short one stays behind; its memory says nothing."""

import asyncio
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).resolve().parents[2] / "benchmarks" / "soak.py"


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_no_task_socket_file_or_process_is_left_over() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(SOAK),
        "--requests",
        "400",
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    output, _ = await process.communicate()

    report = output.decode()
    assert "0 errors; the metrics page counted as many." in report
    assert "| tasks |" in report
    assert "**left over**" not in report
