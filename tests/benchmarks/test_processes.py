"""Processes that are measured and ended as a whole."""

import os
import sys
from pathlib import Path

import pytest
from processes import Family, child

from tests.fakes.gate import eventually

PARENT = """
import subprocess, sys
wait = "import time; print('up', flush=True); time.sleep(60)"
below = subprocess.Popen([sys.executable, "-c", wait])
print(below.pid, flush=True)
below.wait()
"""

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


async def test_family_is_all_that_was_started_and_ends_with_the_block(tmp_path: Path) -> None:
    with child((sys.executable, "-c", PARENT), None, tmp_path) as process:
        assert process.stdout is not None
        told = {process.stdout.readline().decode().strip() for _ in range(2)}
        family = Family(process.pid)

        members = set(family.members())
        resident, one = family.resident_mib(), Family(os.getpid()).resident_mib()

        assert members == {process.pid, *(int(line) for line in told - {"up"})}
        assert resident is not None
        assert resident > 1
        assert one is not None
        assert family.open_files() >= 6
        assert family.sockets() == 0
        assert family.cpu_seconds() is not None

    await eventually(lambda: not family.members())


def test_output_of_a_child_goes_to_its_log(tmp_path: Path) -> None:
    log = tmp_path / "child.log"

    with child(
        (sys.executable, "-c", "import os; print(os.environ['WHO'])"), log, tmp_path, {"WHO": "me"}
    ) as process:
        process.wait()

    assert log.read_text() == "me\n"
