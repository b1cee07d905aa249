"""Tables of the overhead benchmark: medians over the rounds, ratios first."""

import importlib.metadata
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from load import Figures

YARDSTICK = "relay"
FLOOR = "direct"
_NONE = "-"
_EXPLANATION = (
    "Median of the rounds' ratios, in brackets the least and the greatest. "
    "Added TTFT is the difference to the same load sent straight to the upstream."
)
_LIBRARIES = ("aiohttp", "uvicorn", "uvloop", "httptools", "sluicegate")


@dataclass(frozen=True, slots=True)
class Turn:
    """One contender in one round. `figures` is keyed by the measure's name."""

    round: int
    peer: str
    figures: dict[str, Figures] = field(default_factory=dict)
    start_seconds: float | None = None
    import_seconds: float | None = None
    resident_mib: float | None = None
    scrapes: int = 0
    scrapes_failed: int = 0
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """One figure of one measure."""

    title: str
    measure: str
    figure: str
    digits: int = 2

    def value(self, turn: Turn | None) -> float | None:
        figures = turn.figures.get(self.measure) if turn else None
        if figures is None or (self.figure == "per_second" and not figures.completed):
            return None
        value: float | None = getattr(figures, self.figure)
        return value


@dataclass(frozen=True, slots=True)
class Target:
    """A limit on a ratio to the bare relay."""

    peer: str
    column: Column
    limit: float
    at_most: bool

    def verdict(self, turns: Sequence[Turn]) -> str:
        ratios = _ratios(turns, self.peer, self.column)
        words = f"{'at most' if self.at_most else 'at least'} {self.limit}"
        line = f"- {self.peer}, {_bare(self.column)}, target {words} times the relay's"
        if not ratios:
            return f"{line}: not measured"
        ratio = median(ratios)
        met = ratio <= self.limit if self.at_most else ratio >= self.limit
        return f"{line}: {ratio:.2f}, {'met' if met else 'not met'}"


P50_AT_1 = Column("p50 at concurrency 1, ms", "json_1", "p50_ms", 3)
STREAMS_AT_16 = Column("streams/s at 16", "stream_16", "per_second", 0)
RATIOS = (
    P50_AT_1,
    Column("p99 at concurrency 1, ms", "json_1", "p99_ms", 3),
    Column("replies/s at 16", "json_16", "per_second", 0),
    STREAMS_AT_16,
)
TTFTS = (
    Column("TTFT p50 at 32 streams, ms", "paced_32", "ttft_p50_ms"),
    Column("TTFT p99 at 32 streams, ms", "paced_32", "ttft_p99_ms"),
    Column("TTFT p50 at 128 streams, ms", "paced_128", "ttft_p50_ms"),
    Column("TTFT p99 at 128 streams, ms", "paced_128", "ttft_p99_ms"),
)
ANSWERS = (
    *RATIOS[:3],
    Column("p50 at 16, ms", "json_16", "p50_ms"),
    Column("p99 at 16, ms", "json_16", "p99_ms"),
    STREAMS_AT_16,
)
PACED = (
    *TTFTS,
    Column("lag p50 at 32, ms", "paced_32", "lag_p50_ms"),
    Column("lag p99 at 32, ms", "paced_32", "lag_p99_ms"),
    Column("lag p50 at 128, ms", "paced_128", "lag_p50_ms"),
    Column("lag p99 at 128, ms", "paced_128", "lag_p99_ms"),
)
TARGETS = (
    Target("pass", P50_AT_1, 1.4, at_most=True),
    Target("pass", STREAMS_AT_16, 0.75, at_most=False),
)


def markdown(turns: Sequence[Turn], machine: Sequence[str]) -> str:
    """The whole report."""
    compared = [f"{_bare(column)}, ratio" for column in RATIOS]
    compared += [f"added {column.title}" for column in TTFTS]
    footprint = ["start, s", "import, s", "resident, MiB", "scrapes", "failed scrapes"]
    parts = [
        "## Against the bare relay",
        _EXPLANATION,
        _table(turns, compared, _compared),
        "\n".join(target.verdict(turns) for target in TARGETS),
        "## Measured",
        "\n".join(f"- {fact}" for fact in machine),
        _table(turns, [column.title for column in ANSWERS] + ["errors"], _answers),
        _table(turns, [column.title for column in PACED], _paced),
        _table(turns, footprint, _footprint),
        "\n".join(sorted({f"- {turn.peer}: {turn.failure}" for turn in turns if turn.failure})),
    ]
    return "\n\n".join(part for part in parts if part)


def machine_facts(seconds: float, rounds: int) -> list[str]:
    """What a reader needs to judge the absolute figures by."""
    load = ", ".join(f"{average:.2f}" for average in os.getloadavg())
    versions = ", ".join(f"{name} {_version(name)}" for name in _LIBRARIES)
    return [
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {rounds} rounds of {seconds:g} s a measure",
        f"{_processor()}, {os.cpu_count()} CPUs, {platform.system()} {platform.machine()}",
        f"load average before the start: {load}",
        f"Python {platform.python_version()}, {versions}",
    ]


def _table(
    turns: Sequence[Turn], titles: Sequence[str], cells: Callable[[Sequence[Turn], str], list[str]]
) -> str:
    peers = dict.fromkeys(turn.peer for turn in turns)
    return "\n".join([*table_head(titles), *(row([peer, *cells(turns, peer)]) for peer in peers)])


def table_head(titles: Sequence[str]) -> list[str]:
    return [row(["", *titles]), row(["---"] + ["---:"] * len(titles))]


def row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _bare(column: Column) -> str:
    return column.title.removesuffix(", ms")


def _compared(turns: Sequence[Turn], peer: str) -> list[str]:
    ratios = [with_spread(_ratios(turns, peer, column)) for column in RATIOS]
    return ratios + [with_spread(_added(turns, peer, column)) for column in TTFTS]


def _answers(turns: Sequence[Turn], peer: str) -> list[str]:
    errors = [figures.errors for turn in _of(turns, peer) for figures in turn.figures.values()]
    return [*_medians(turns, peer, ANSWERS), f"{sum(errors)}" if errors else _NONE]


def _paced(turns: Sequence[Turn], peer: str) -> list[str]:
    return _medians(turns, peer, PACED)


def _footprint(turns: Sequence[Turn], peer: str) -> list[str]:
    own = _of(turns, peer)
    scraped = any(turn.scrapes + turn.scrapes_failed for turn in own)
    return [
        _median([turn.start_seconds for turn in own]),
        _median([turn.import_seconds for turn in own]),
        _median([turn.resident_mib for turn in own], 0),
        f"{sum(turn.scrapes for turn in own)}" if scraped else _NONE,
        f"{sum(turn.scrapes_failed for turn in own)}" if scraped else _NONE,
    ]


def _medians(turns: Sequence[Turn], peer: str, columns: Sequence[Column]) -> list[str]:
    return [
        _median([column.value(turn) for turn in _of(turns, peer)], column.digits)
        for column in columns
    ]


def _median(values: Sequence[float | None], digits: int = 2) -> str:
    known = [value for value in values if value is not None]
    return f"{median(known):,.{digits}f}" if known else _NONE


def with_spread(values: Sequence[float]) -> str:
    if not values:
        return _NONE
    return f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f})"  # noqa: RUF001 -- a range


def _ratios(turns: Sequence[Turn], peer: str, column: Column) -> list[float]:
    return [own / other for own, other in _pairs(turns, peer, YARDSTICK, column) if other]


def _added(turns: Sequence[Turn], peer: str, column: Column) -> list[float]:
    return [own - other for own, other in _pairs(turns, peer, FLOOR, column)]


def _pairs(
    turns: Sequence[Turn], peer: str, other: str, column: Column
) -> Iterator[tuple[float, float]]:
    """The figures of two contenders in the same round, where both have one."""
    others = {turn.round: column.value(turn) for turn in _of(turns, other)}
    for turn in _of(turns, peer):
        own, against = column.value(turn), others.get(turn.round)
        if own is not None and against is not None:
            yield own, against


def _of(turns: Sequence[Turn], peer: str) -> list[Turn]:
    return [turn for turn in turns if turn.peer == peer]


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"
