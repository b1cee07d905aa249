"""The processes of a session: found, counted, ended, with the memory that they shared.

An engine is several processes, and one that loses its parent keeps running. What they have in
common for life is their session. Only Linux shows it (in /proc); elsewhere the process group has
to do.
"""

import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_RING: Final = "/dev/shm/psm_"  # noqa: S108 - where the kernel shows it
_PATIENCE_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.05
# Python's own process that frees the shared memory of those that were killed, once they are gone.
_TRACKER: Final = b"multiprocessing.resource_tracker import main"


@dataclass(frozen=True, slots=True)
class Member:
    """A process of a session. `title` is its command line, or what it has set instead."""

    pid: int
    title: bytes


def members(session: int) -> Iterator[Member]:
    """The living processes of a session, also those whose parent is gone. Empty off Linux."""
    with suppress(FileNotFoundError):
        for entry in _PROC.iterdir():
            if entry.name.isdigit() and (title := _title_in(entry, session)) is not None:
                yield Member(int(entry.name), title)


def end_session(session: int, patience_seconds: float = _PATIENCE_SECONDS) -> None:
    """Kill every process of a session, the one that cleans up after the others last.

    Returns when all are gone. Removes the shared memory that a killed vLLM leaves, up to a quarter
    of a gigabyte for each of its rings.
    """
    late = time.monotonic() + patience_seconds
    left: set[Path] = set()
    with suppress(ProcessLookupError, PermissionError):
        if not _PROC.is_dir():
            os.killpg(session, signal.SIGKILL)
    while alive := list(members(session)):
        left |= shared_memory(alive)
        for member in alive:
            if _TRACKER not in member.title or time.monotonic() > late:
                with suppress(ProcessLookupError):
                    os.kill(member.pid, signal.SIGKILL)
        time.sleep(_PAUSE_SECONDS)
    for memory in left:
        memory.unlink(missing_ok=True)


def shared_memory(of: Iterable[Member]) -> set[Path]:
    """The rings that processes share by name, as vLLM makes them."""
    found: set[Path] = set()
    for member in of:
        with suppress(OSError):
            lines = (_PROC / str(member.pid) / "maps").read_text(errors="replace").splitlines()
            found.update(Path(line.split(maxsplit=5)[5]) for line in lines if _RING in line)
    return {path for path in found if " (deleted)" not in path.name}


def _title_in(entry: Path, session: int) -> bytes | None:
    """The title of a living process if it belongs to the session."""
    try:
        # The command in parentheses may hold anything; state, parent, group, session follow.
        state, _, _, of = (
            (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[:4]
        )
        title = (entry / "cmdline").read_bytes()
    except OSError:
        return None
    return title if int(of) == session and state not in "ZX" else None
