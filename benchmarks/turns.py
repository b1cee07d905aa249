"""What was measured of one contender in one round, and how contenders compare within a round."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from tally import Figures

YARDSTICK = "relay"
FLOOR = "direct"


@dataclass(frozen=True, slots=True)
class Turn:
    """One contender in one round. `figures` and `cpu_ms` (processor time a reply, all its
    processes together) are keyed by the measure's name. `note` explains errors that are known.
    """

    round: int
    peer: str
    title: str
    figures: dict[str, Figures] = field(default_factory=dict)
    cpu_ms: dict[str, float] = field(default_factory=dict)
    start_seconds: float | None = None
    import_seconds: float | None = None
    litellm_modules: int | None = None
    resident_mib: float | None = None
    scrapes: int = 0
    scrapes_failed: int = 0
    failure: str = ""
    note: str = ""

    @classmethod
    def read(cls, stored: dict[str, Any]) -> Self:
        """From what was written as JSON."""
        figures = {name: Figures(**found) for name, found in stored["figures"].items()}
        return cls(**(stored | {"figures": figures}))

    @property
    def errors(self) -> int:
        return sum(figures.errors for figures in self.figures.values())


@dataclass(frozen=True, slots=True)
class Quantity:
    """One figure of a turn, and how it is shown."""

    title: str
    value: Callable[[Turn], float | None]
    unit: str = ""
    digits: int = 2
    measure: str = ""

    @property
    def heading(self) -> str:
        return f"{self.title}, {self.unit}" if self.unit else self.title


def _of_load(title: str, measure: str, figure: str, unit: str = "ms", digits: int = 2) -> Quantity:
    def value(turn: Turn) -> float | None:
        figures = turn.figures.get(measure)
        if figures is None or (figure == "per_second" and not figures.replies):
            return None
        found: float | None = getattr(figures, figure)
        return found

    return Quantity(title, value, unit, digits, measure)


def _cpu(title: str, measure: str, digits: int) -> Quantity:
    return Quantity(title, lambda turn: turn.cpu_ms.get(measure), "ms", digits, measure)


P50_AT_1 = _of_load("p50, 1 connection", "json_1", "p50_ms", digits=3)
P99_AT_1 = _of_load("p99, 1 connection", "json_1", "p99_ms", digits=3)
REPLIES_AT_16 = _of_load("replies/s, 16 connections", "json_16", "per_second", "", 0)
STREAMS_AT_16 = _of_load("streams/s, 16 connections", "stream_16", "per_second", "", 1)
CPU_A_REPLY = _cpu("CPU a reply", "json_16", 3)
CPU_A_STREAM = _cpu("CPU a stream", "stream_16", 2)
P50_AT_16 = _of_load("p50, 16 connections", "json_16", "p50_ms")
P99_AT_16 = _of_load("p99, 16 connections", "json_16", "p99_ms")
WAY_AT_32 = _of_load("TTFT p50, 32 streams", "paced_32", "way_p50_ms")
WAY_P99_AT_32 = _of_load("TTFT p99, 32 streams", "paced_32", "way_p99_ms")
WAY_AT_128 = _of_load("TTFT p50, 128 streams", "paced_128", "way_p50_ms")
WAY_P99_AT_128 = _of_load("TTFT p99, 128 streams", "paced_128", "way_p99_ms")
LAG_AT_32 = _of_load("lag p50, 32 streams", "paced_32", "lag_p50_ms")
LAG_P99_AT_32 = _of_load("lag p99, 32 streams", "paced_32", "lag_p99_ms")
LAG_AT_128 = _of_load("lag p50, 128 streams", "paced_128", "lag_p50_ms")
LAG_P99_AT_128 = _of_load("lag p99, 128 streams", "paced_128", "lag_p99_ms")
RESIDENT = Quantity("resident", lambda turn: turn.resident_mib, "MiB", 0)
START = Quantity("start", lambda turn: turn.start_seconds, "s")
IMPORT = Quantity("import", lambda turn: turn.import_seconds, "s")
LITELLM_MODULES = Quantity("modules of litellm", lambda turn: turn.litellm_modules, digits=0)

# Turns by contender.
Round = dict[str, Turn]


def rounds(turns: Sequence[Turn]) -> list[Round]:
    """Turns by contender, round by round."""
    found: dict[int, Round] = {}
    for turn in turns:
        found.setdefault(turn.round, {})[turn.peer] = turn
    return list(found.values())


def values(turns: Sequence[Turn], peer: str, quantity: Quantity) -> list[float]:
    known = [quantity.value(turn) for turn in turns if turn.peer == peer]
    return [value for value in known if value is not None]


def nothing_but_errors(turns: Sequence[Turn], peer: str, measure: str) -> bool:
    """Whether a contender answered this load, and never well."""
    loads = [turn.figures.get(measure) for turn in turns if turn.peer == peer]
    known = [load for load in loads if load is not None]
    return any(load.errors for load in known) and not any(load.replies for load in known)


def ratios(
    turns: Sequence[Turn], peer: str, quantity: Quantity, other: str = YARDSTICK
) -> list[float]:
    """Each round's own ratio to another contender, in those rounds in which both have a figure."""
    pairs = [_pair(played, peer, other, quantity) for played in rounds(turns)]
    return [pair[0] / pair[1] for pair in pairs if pair is not None and pair[1]]


def added(turns: Sequence[Turn], peer: str, quantity: Quantity, other: str = FLOOR) -> list[float]:
    """Each round's own difference to another contender."""
    pairs = [_pair(played, peer, other, quantity) for played in rounds(turns)]
    return [pair[0] - pair[1] for pair in pairs if pair is not None]


def _pair(played: Round, peer: str, other: str, quantity: Quantity) -> tuple[float, float] | None:
    if peer not in played or other not in played:
        return None
    own, against = quantity.value(played[peer]), quantity.value(played[other])
    return None if own is None or against is None else (own, against)
