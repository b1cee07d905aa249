"""What a soak found, and whether anything stayed behind."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import linear_regression

from tables import number, table

SETTLED = 0.25  # of the parts: until then caches fill
LONG = 20_000  # requests, below which memory is not judged: look-ups of the last 1000 still fill
FLAT = 0.02  # of the resident memory, by which it may grow over the rest


@dataclass(frozen=True, slots=True)
class Part:
    """After so many requests, streams not counted: memory of all processes, errors of this part."""

    done: int
    errors: int
    resident_mib: float

    @property
    def told(self) -> str:
        return f"{self.done:,} requests: {self.resident_mib:.1f} MiB, {self.errors} errors"


@dataclass(frozen=True, slots=True)
class Left:
    """What lives while nobody asks for anything. `tasks` of the event loop by coroutine, `objects`
    that the garbage collector follows, `counted` requests on the metrics page since the start.
    """

    tasks: dict[str, int]
    objects: int
    open_files: int
    sockets: int
    processes: int
    in_flight: int
    queued: int
    counted: int

    def is_no_more_than(self, other: "Left") -> bool:
        return (
            sum(self.tasks.values()) <= sum(other.tasks.values())
            and self.open_files <= other.open_files
            and self.sockets <= other.sockets
            and self.processes <= other.processes
            and self.in_flight == self.queued == 0
        )


@dataclass(frozen=True, slots=True)
class Soaked:
    """`sent`: requests and streams between the two looks."""

    parts: Sequence[Part]
    before: Left
    after: Left
    sent: int

    @property
    def errors(self) -> int:
        return sum(part.errors for part in self.parts)

    @property
    def slope_kib(self) -> float:
        """By how much memory grows with 1,000 requests, once it has settled."""
        settled = self._settled()
        done = [part.done / 1000 for part in settled]
        return linear_regression(done, [part.resident_mib * 1024 for part in settled]).slope

    @property
    def grown(self) -> float:
        """The slope over all settled parts, as a share of the memory at the end."""
        settled = self._settled()
        span = (settled[-1].done - settled[0].done) / 1000
        return self.slope_kib * span / 1024 / settled[-1].resident_mib

    @property
    def is_flat(self) -> bool | None:
        """None for a soak that is too short to judge by."""
        return None if self.parts[-1].done < LONG else self.grown <= FLAT

    @property
    def is_clean(self) -> bool:
        return (
            self.is_flat is not False
            and self.errors == 0
            and self.after.is_no_more_than(self.before)
            and self.after.counted - self.before.counted == self.sent
        )

    def markdown(self, facts: Sequence[str]) -> str:
        memory = ", ".join(number(part.resident_mib, 1) for part in self.parts)
        flat = {None: "too short to judge", True: "flat", False: "**growing**"}[self.is_flat]
        total = (
            f"{self.parts[-1].done:,} requests and the streams beside them, {self.sent:,} in all"
        )
        slope = f"{self.slope_kib:.1f} KiB for 1,000 requests"
        parts = [
            f"{total}, {self.errors:,} errors; {self._counted()}.",
            f"Resident memory of all processes after each twentieth, MiB: {memory}.",
            f"Slope after the first quarter: {slope}, {self.grown:.1%} of the memory: {flat}.",
            table(["before", "after", ""], self._rows()),
            "\n".join(f"- {fact}" for fact in facts),
        ]
        return "\n\n".join(parts)

    def _rows(self) -> list[list[str]]:
        before, after = self.before, self.after
        return [
            _row("tasks", sum(before.tasks.values()), sum(after.tasks.values())),
            _row("sockets", before.sockets, after.sockets),
            _row("open files, sockets among them", before.open_files, after.open_files),
            _row("processes", before.processes, after.processes),
            _row("requests in flight", before.in_flight, after.in_flight),
            _row("requests waiting", before.queued, after.queued),
            # Not judged: the last 1000 requests are kept for look-ups, of which some are larger.
            ["objects", f"{before.objects:,}", f"{after.objects:,}", ""],
        ]

    def _counted(self) -> str:
        counted = self.after.counted - self.before.counted
        return "the metrics page counted " + (
            "as many" if counted == self.sent else f"{counted:,}, **not as many**"
        )

    def _settled(self) -> Sequence[Part]:
        return self.parts[int(len(self.parts) * SETTLED) :]


def _row(name: str, before: int, after: int) -> list[str]:
    return [name, f"{before:,}", f"{after:,}", "" if after <= before else "**left over**"]
