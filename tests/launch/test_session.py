import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proxy.launch.session import end_session, members, shared_memory
from tests.fakes.gate import eventually

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
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows sessions")


@pytest.fixture
def family() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", FAMILY], start_new_session=True) as parent:
        yield parent
        end_session(parent.pid)


def _count(session: int) -> int:
    return len(list(members(session)))


@linux
async def test_orphans_still_belong_to_the_session_and_are_ended(
    family: subprocess.Popen[bytes],
) -> None:
    await eventually(lambda: _count(family.pid) == 2)

    family.kill()
    family.wait()
    orphans = _count(family.pid)
    end_session(family.pid)

    assert orphans == 1
    assert _count(family.pid) == 0


@linux
def test_shared_memory_of_those_that_are_killed_is_removed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SHARES],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as sharing:
        assert sharing.stdout
        memory = Path("/dev/shm") / sharing.stdout.readline().decode().strip()  # noqa: S108 - where the kernel shows it
        seen = shared_memory(members(sharing.pid))

        end_session(sharing.pid)

    assert seen == {memory}
    assert not memory.exists()


def test_ending_an_empty_session_does_nothing(family: subprocess.Popen[bytes]) -> None:
    family.kill()
    family.wait()
    end_session(family.pid)

    end_session(family.pid)

    assert _count(family.pid) == 0
