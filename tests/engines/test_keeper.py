import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines import keeper
from tests.fakes.gate import eventually

ROOT = Path(__file__).parents[2]
# A parent with a child that ignores SIGTERM; the parent's death leaves the child as an orphan.
FAMILY = """
import signal, subprocess, sys, time
child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
subprocess.Popen([sys.executable, "-c", child])
time.sleep(300)
"""
# As vLLM does: memory that Python's own tracker does not remove either.
SHARES = """
from multiprocessing import resource_tracker, shared_memory
memory = shared_memory.SharedMemory(create=True, size=8)
resource_tracker.unregister(memory._name, "shared_memory")
print(memory.name, flush=True)
input()
"""


@pytest.fixture
def family() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", FAMILY], start_new_session=True) as parent:
        yield parent
        keeper.end(parent.pid)


def _count(session: int) -> int:
    return len(list(keeper.members(session)))


async def test_orphans_still_belong_to_the_session_and_are_ended(
    family: subprocess.Popen[bytes],
) -> None:
    await eventually(lambda: _count(family.pid) == 2)

    family.kill()
    family.wait()
    orphans = _count(family.pid)
    keeper.end(family.pid)

    assert orphans == 1
    assert _count(family.pid) == 0


async def test_keeper_ends_the_session_when_whoever_started_it_is_gone(
    family: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    await eventually(lambda: _count(family.pid) == 2)
    folder = tmp_path / "sockets"
    folder.mkdir()

    beside = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", keeper.__name__, str(family.pid), folder),
        stdin=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    alive_meanwhile = _count(family.pid)
    await beside.communicate(b"")

    assert alive_meanwhile == 2
    assert _count(family.pid) == 0
    assert not folder.exists()


@pytest.mark.slow
async def test_shared_memory_of_those_that_are_killed_is_removed() -> None:
    sharing = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SHARES),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert sharing.stdout
    memory = Path("/dev/shm") / (await sharing.stdout.readline()).decode().strip()  # noqa: S108
    there_meanwhile = memory.exists()

    keeper.end(sharing.pid)
    await sharing.communicate()

    assert there_meanwhile
    assert not memory.exists()


def test_ending_an_empty_session_does_nothing(family: subprocess.Popen[bytes]) -> None:
    family.kill()
    family.wait()
    keeper.end(family.pid)

    keeper.end(family.pid)

    assert _count(family.pid) == 0
