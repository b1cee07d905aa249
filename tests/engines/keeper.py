"""Ends an engine whose test run is gone: `python -m tests.engines.keeper SESSION FOLDER` beside it.

A vLLM that loses its API server leaves EngineCore and Worker behind, and a test run that is killed
runs no finalizers. The keeper waits for the end of its standard input, whose other end only the
test run holds, then kills every process of the engine's session and removes its folder.
"""

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_SHARED: Final = Path("/dev/shm")  # noqa: S108 - where the kernel shows it
_RING: Final = f"{_SHARED}/psm_"
_WAIT_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.05
# It frees the shared memory of processes that were killed, once the last of them is gone.
_TRACKER: Final = "resource_tracker"


@dataclass(frozen=True, slots=True)
class Member:
    """A process of an engine's session. `title` is its command line, or what it set instead."""

    pid: int
    title: str


def members(session: int) -> Iterator[Member]:
    """The living processes of a session, also those whose parent is gone."""
    for entry in _PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # The command in parentheses may hold spaces; state, parent, group, session follow.
            state, _, _, of = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            title = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if int(of) == session and state not in "ZX":
            yield Member(int(entry.name), title.strip())


def shared_memory(of: Iterable[Member]) -> set[Path]:
    """What processes share by name: vLLM's rings, and the marks of Intel's OpenMP.

    Whoever is killed removes neither, and a ring takes up to a quarter of a gigabyte.
    """
    found: set[Path] = set()
    for member in of:
        with suppress(OSError):
            lines = (_PROC / str(member.pid) / "maps").read_text().splitlines()
            found.update(Path(line.split()[5]) for line in lines if _RING in line)
        found.update(_SHARED.glob(f"__KMP_REGISTERED_LIB_{member.pid}_*"))
    return found


def end(session: int, shared: Iterable[Path] = (), wait_seconds: float = _WAIT_SECONDS) -> None:
    """Kill every process of a session, those that clean up after the others last.

    Removes what they share, and what they are known to have `shared` when all were alive.
    """
    deadline = time.monotonic() + wait_seconds
    left = set(shared)
    while alive := list(members(session)):
        left |= shared_memory(alive)
        late = time.monotonic() > deadline
        for member in alive:
            if late or _TRACKER not in member.title:
                _kill(member.pid)
        time.sleep(_PAUSE_SECONDS)
    for memory in left:
        memory.unlink(missing_ok=True)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def main() -> None:
    """Wait for the end of standard input, then end the session."""
    session, folder = sys.argv[1:]
    sys.stdin.buffer.read()
    end(int(session))
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
