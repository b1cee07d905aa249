"""Processes of a run: started in a session of their own, measured and ended as a whole."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
# An installed program is compiled; one that may keep no compiled files would be at every start.
_AS_INSTALLED = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}
STOP_SECONDS = 10.0

_PROC = Path("/proc")


@contextmanager
def child(
    command: Sequence[str],
    log: Path | None,
    folder: Path,
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a session of its own, ended with all its children when the block ends.

    Without a log its stdout is a pipe. `environment` adds to ours.
    """
    output = log.open("wb") if log else subprocess.PIPE
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**_AS_INSTALLED, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if log else None,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        _end(process)
        for stream in (process.stdout, None if isinstance(output, int) else output):
            if stream is not None:
                stream.close()


@dataclass(frozen=True, slots=True)
class Family:
    """A started process with all that it started; figures are None where there is no /proc."""

    session: int

    def resident_mib(self) -> float | None:
        """Resident memory, added up: pages that two of them share count twice."""
        pages = self._total(_RESIDENT_PAGES)
        return None if pages is None else pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def cpu_seconds(self) -> float | None:
        """Processor time up to now, that of ended children included."""
        ticks = [self._total(field) for field in _CPU_TICKS]
        if None in ticks:
            return None
        return sum(tick or 0 for tick in ticks) / os.sysconf("SC_CLK_TCK")

    def members(self) -> list[int]:
        """Ids of those that have not ended."""
        return [pid for pid, fields in self._stats() if fields[_STATE] != "Z"]

    def open_files(self) -> int:
        """File descriptors of all of them, sockets and pipes included."""
        return len(self._descriptors())

    def sockets(self) -> int:
        return sum(target.startswith("socket:") for target in self._descriptors())

    def _descriptors(self) -> list[str]:
        targets = []
        for pid in self.members():
            for descriptor in (_PROC / str(pid) / "fd").glob("*"):
                with suppress(OSError):  # one that was closed meanwhile
                    targets.append(str(descriptor.readlink()))
        return targets

    def _total(self, field: int) -> int | None:
        if not (_PROC / "self/stat").exists():
            return None
        return sum(int(fields[field]) for _, fields in self._stats())

    def _stats(self) -> Iterator[tuple[int, list[str]]]:
        for stat in _PROC.glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:  # a process that ended meanwhile
                continue
            if int(fields[_SESSION]) == self.session:
                yield int(stat.parent.name), fields


# Places in /proc/PID/stat, counted from behind the name in brackets.
_STATE = 0
_SESSION = 3
_CPU_TICKS = (11, 12, 13, 14)
_RESIDENT_PAGES = 21


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the group to end; kill what is left of it when its leader has gone or will not."""
    for ending in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, ending)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
