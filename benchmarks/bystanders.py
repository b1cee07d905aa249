"""How busy other programs kept the machine: figures from a busy machine prove little."""

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

TOO_BUSY = 0.1
LOOK_SECONDS = 2.0
_STAT = Path("/proc/stat")
_IDLE_FIELDS = (3, 4)  # idle and waiting for a disk
_GUEST_FIELDS = 8  # guests' time, from here on, is contained in the fields before


@dataclass(frozen=True, slots=True)
class Moment:
    """CPU seconds up to now, of the whole machine and of this run with its ended children."""

    clock: float
    machine: float | None
    own: float

    @classmethod
    def now(cls) -> Self:
        usages = [
            resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        ]
        own = sum(usage.ru_utime + usage.ru_stime for usage in usages)
        return cls(time.monotonic(), _machine_seconds(), own)

    def bystanders_since(self, begin: Self) -> float | None:
        """The CPUs that others kept busy on average; None where there is no /proc."""
        if self.machine is None or begin.machine is None:
            return None
        others = (self.machine - begin.machine) - (self.own - begin.own)
        return max(0.0, others / (self.clock - begin.clock))


def told(cpus: float | None) -> str:
    """The fact for the report, with a warning where it spoils the figures."""
    if cpus is None:
        return "other programs: unknown here"
    fact = f"other programs kept {cpus:.2f} of {os.cpu_count()} CPUs busy meanwhile"
    return f"{fact}: TOO BUSY, do not publish these figures" if cpus > TOO_BUSY else fact


def look_around() -> str:
    """Watch the machine for two seconds before a run begins, and say what to expect of it."""
    begin = Moment.now()
    time.sleep(LOOK_SECONDS)
    cpus = Moment.now().bystanders_since(begin)
    if cpus is None:
        return "Other programs: unknown here."
    fact = f"Other programs keep {cpus:.2f} of {os.cpu_count()} CPUs busy now."
    return f"{fact} TOO BUSY: the figures will mean little." if cpus > TOO_BUSY else fact


def _machine_seconds() -> float | None:
    if not _STAT.exists():
        return None
    fields = [int(field) for field in _STAT.read_text().splitlines()[0].split()[1:]]
    busy = sum(fields[:_GUEST_FIELDS]) - sum(fields[index] for index in _IDLE_FIELDS)
    return busy / os.sysconf("SC_CLK_TCK")
