"""The loads of the comparison, and one contender's turn under all of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from installation import NotInstalled
from peers import Peer
from running import DidNotStart, Running, import_of, loaded, started
from tally import Figures
from turns import Turn

WARM_UP_SECONDS = 0.8
PACED_SECONDS = 1.5  # a stream takes 1.3: less would see no beginning of one


@dataclass(frozen=True, slots=True)
class Measure:
    """One load."""

    name: str
    kind: str
    concurrency: int

    def at_least(self, seconds: float) -> float:
        return max(seconds, PACED_SECONDS) if self.kind == "paced" else seconds

    def fits(self, peer: Peer) -> bool:
        return not peer.measures or self.name in peer.measures


MEASURES = (
    Measure("json_1", "json", 1),
    Measure("json_16", "json", 16),
    Measure("stream_16", "stream", 16),
    Measure("paced_32", "paced", 32),
    Measure("paced_128", "paced", 128),
)


@dataclass(frozen=True, slots=True)
class _Measured:
    name: str
    figures: Figures
    cpu_ms: float | None


def take_turn(number: int, peer: Peer, upstream: str, folder: Path, seconds: float) -> Turn:
    """Start a contender, measure it, stop it. One that does not start has a turn that says why."""
    importing = import_of(peer)
    try:
        with started(peer, upstream, folder) as running:
            measured = list(_measured(peer, running, seconds))
            resident = running.family.resident_mib() if running.family else None
    except (DidNotStart, NotInstalled) as error:
        return Turn(number, peer.name, peer.title, failure=f"not measured: {error}")
    return Turn(
        number,
        peer.name,
        peer.title,
        {one.name: one.figures for one in measured},
        {one.name: one.cpu_ms for one in measured if one.cpu_ms is not None},
        running.start_seconds,
        importing.seconds if importing else None,
        importing.litellm_modules if importing else None,
        resident,
        running.scrapes.done,
        running.scrapes.failed,
        note=peer.note,
    )


def _measured(peer: Peer, running: Running, seconds: float) -> Iterator[_Measured]:
    """What a first load starts, such as processes, is no cost of the replies that are measured."""
    measures = [measure for measure in MEASURES if measure.fits(peer)]
    if running.family:
        first = Measure("warm_up", measures[0].kind, 16)
        _under_load(first, peer, running, WARM_UP_SECONDS)
    for measure in measures:
        used = _cpu_seconds(running)
        figures = _under_load(measure, peer, running, seconds)
        yield _Measured(measure.name, figures, _cpu_ms(figures, used, _cpu_seconds(running)))


def _under_load(measure: Measure, peer: Peer, running: Running, seconds: float) -> Figures:
    options = ["--ask", peer.ask, "--concurrency", str(measure.concurrency)]
    options += ["--seconds", str(measure.at_least(seconds))]
    for header in running.headers:
        options += ["--header", header]
    return loaded(running.url, measure.kind, *options)


def _cpu_seconds(running: Running) -> float | None:
    return running.family.cpu_seconds() if running.family else None


def _cpu_ms(figures: Figures, before: float | None, after: float | None) -> float | None:
    """Processor time a reply; None where errors took some of it."""
    if before is None or after is None or figures.errors or not figures.replies:
        return None
    return (after - before) * 1000 / figures.replies
