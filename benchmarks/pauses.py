"""What stops other streams? Paced streams through Sluicegate: alone, while its metrics page is
read, and beside a neighbour whose replies take long to judge.

    python benchmarks/pauses.py [--seconds 4] [--rounds 3] [--only alone small long] [--json FILE]

See benchmarks/README.md for the method. Exits with 0 whatever the figures are.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from asks import HOSTILE_SCHEMA, Ask, chat_request, sourced_request
from bystanders import Moment, look_around, told
from machine import machine_facts, rounds
from paused_gate import Pauses
from peers import configured
from processes import HERE, child
from running import DidNotStart, fake_upstream, figures_of, load_command
from scraping import Scrapes, read_page, scraped
from tables import row, table_head, with_spread
from tally import Figures

STREAMS = 8
MIDDLE_ITEMS = 300  # about 30 kB
LONG_ITEMS = 10_000  # about 1 MB, just below the production policy's limit
SOURCE_CHARACTERS = 60_000
ALONE = "alone"
CONTROL = "small"
UNJUDGED = "sources, not judged"
_REFUSED = 422


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another client, which asks again as soon as it is answered."""

    body: bytes
    kind: str = "json"
    status: int = 200


@dataclass(frozen=True, slots=True)
class Phase:
    """What runs beside the streams; `judges_here`: in a proxy without the judging process.

    `control`: the phase that this one is compared with. `scrape_seconds`: how long after one scrape
    of the metrics page the next one is sent; None: there is none.
    """

    name: str
    neighbour: Neighbour | None = None
    judges_here: bool = False
    control: str = CONTROL
    scrape_seconds: float | None = None


def _strict(*, items: int = 0, stream: bool = False) -> bytes:
    return chat_request(Ask.STRICT, stream=stream, document_items=items)


_LONG = Neighbour(_strict(items=LONG_ITEMS))
_LONG_STREAM = Neighbour(_strict(items=LONG_ITEMS, stream=True), kind="stream")
_SOURCES = Neighbour(sourced_request("source", SOURCE_CHARACTERS))
_NO_SOURCES = Neighbour(sourced_request("passage", SOURCE_CHARACTERS))
_HOSTILE = Neighbour(chat_request(Ask.STRICT, stream=False, schema=HOSTILE_SCHEMA), status=_REFUSED)

PHASES = (
    Phase(ALONE),
    Phase("scraped", control=ALONE, scrape_seconds=1.0),
    Phase("scraped in a loop", control=ALONE, scrape_seconds=0.0),
    Phase(CONTROL, Neighbour(_strict())),
    Phase("middle", Neighbour(_strict(items=MIDDLE_ITEMS))),
    Phase("long", _LONG),
    Phase("long stream", _LONG_STREAM),
    Phase("hostile", _HOSTILE),
    Phase(UNJUDGED, _NO_SOURCES),
    Phase("sources", _SOURCES, control=UNJUDGED),
    Phase("long, judged here", _LONG, judges_here=True),
    Phase("hostile, judged here", _HOSTILE, judges_here=True),
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One phase in one round: what the streams saw, what the loop did, what the neighbour got."""

    round: int
    phase: str
    control: str
    streams: Figures
    pauses: Pauses
    neighbour: Figures | None
    scrapes: Scrapes

    def figure(self, name: str) -> float | None:
        """A figure of the table: milliseconds, or so many a second."""
        pauses = self.pauses
        figures = {
            "lag p50": self.streams.lag_p50_ms,
            "lag p99": self.streams.lag_p99_ms,
            "lag max": self.streams.lag_max_ms,
            "longest pause": pauses.longest_ms,
            "longest busy pause": pauses.longest_busy_ms,
            "over 5 ms /s": pauses.long / pauses.seconds,
            "busy over 5 ms /s": pauses.long_busy / pauses.seconds,
            "neighbour's replies/s": self.neighbour.per_second if self.neighbour else None,
            "pages/s": self.scrapes.done / pauses.seconds if self.scrapes.done else None,
        }
        return figures[name]

    @property
    def errors(self) -> int:
        beside = self.neighbour.errors if self.neighbour else 0
        return self.streams.errors + beside + self.scrapes.failed


RATIOS = ("lag p50", "lag p99", "lag max", "longest pause", "longest busy pause")
ABSOLUTE = (*RATIOS, "over 5 ms /s", "busy over 5 ms /s", "neighbour's replies/s", "pages/s")

# The values of one figure in one phase.
Values = Callable[[Sequence[Turn], str, str], list[float]]


@dataclass(frozen=True, slots=True)
class Gate:
    """A running proxy whose event loop is listened to."""

    url: str
    metrics_url: str
    process: subprocess.Popen[bytes]

    def pauses(self) -> Pauses:
        """What its heartbeat has noted since the last call."""
        self.process.send_signal(signal.SIGUSR1)
        return Pauses(**json.loads(_line_of(self.process)))


def main(arguments: Sequence[str]) -> None:
    options = _options(arguments)
    phases = [phase for phase in PHASES if phase.name in options.only]
    print(look_around(), file=sys.stderr, flush=True)
    machine = machine_facts(f"{rounds(options.rounds)} of {options.seconds:g} s a phase")
    turns: list[Turn] = []
    begin = Moment.now()
    try:
        for turn in _turns(phases, options.rounds, options.seconds):
            turns.append(turn)  # noqa: PERF402 -- what was measured before Ctrl-C is still shown
    except KeyboardInterrupt:
        print("Stopped early; the figures below are incomplete.\n")
    machine.append(told(Moment.now().bystanders_since(begin)))
    print(_markdown(turns, machine))
    if options.json_file:
        results = {"machine": machine, "turns": [asdict(turn) for turn in turns]}
        options.json_file.write_text(json.dumps(results, indent=1) + "\n")


def _turns(phases: Sequence[Phase], rounds: int, seconds: float) -> Iterator[Turn]:
    """Rounds of all phases, on proxies that run throughout."""
    with ExitStack() as stack:
        upstream = stack.enter_context(fake_upstream())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        gates = {
            judges_here: stack.enter_context(_gate(upstream, folder, judges_here=judges_here))
            for judges_here in sorted({phase.judges_here for phase in phases})
        }
        for number in range(1, rounds + 1):
            for phase in phases:
                print(f"round {number}: {phase.name}", file=sys.stderr, flush=True)
                yield _turn(number, phase, gates[phase.judges_here], folder, seconds)


def _turn(number: int, phase: Phase, gate: Gate, folder: Path, seconds: float) -> Turn:
    """What is beside the streams begins first and ends last."""
    streams = _load(gate.url, "paced", STREAMS, seconds)
    scraped_url = "" if phase.scrape_seconds is None else gate.metrics_url
    gate.pauses()
    with scraped(scraped_url, phase.scrape_seconds or 0.0) as scrapes, ExitStack() as stack:
        other = None
        if phase.neighbour is not None:
            command = _beside(phase.neighbour, gate, folder, seconds + 1)
            other = stack.enter_context(child(command, None, HERE))
        process = stack.enter_context(child(streams, None, HERE))
        seen = figures_of(process)
        neighbour = None if other is None else figures_of(other)
    return Turn(number, phase.name, phase.control, seen, gate.pauses(), neighbour, scrapes)


def _beside(neighbour: Neighbour, gate: Gate, folder: Path, seconds: float) -> list[str]:
    body = folder / "body.json"
    body.write_bytes(neighbour.body)
    load = _load(gate.url, neighbour.kind, 1, seconds)
    return [*load, "--body", str(body), "--status", str(neighbour.status)]


def _load(url: str, kind: str, concurrency: int, seconds: float) -> list[str]:
    options = ("--concurrency", str(concurrency), "--seconds", str(seconds))
    return load_command(url, kind, *options)


@contextmanager
def _gate(upstream: str, folder: Path, *, judges_here: bool) -> Iterator[Gate]:
    script = (sys.executable, str(HERE / "paused_gate.py"))
    launch = configured(script, upstream, folder)
    command = (*launch.command, "--judge-here") if judges_here else launch.command
    with child(command, None, folder) as process:
        if _line_of(process) != "ready":
            raise DidNotStart("the proxy ended at once; its reason stands above")
        # The first scrape builds the listener's pages: a start, not a scrape.
        read_page(launch.metrics_url)
        yield Gate(launch.url, launch.metrics_url, process)


def _line_of(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None  # noqa: S101 -- for the type checker
    return process.stdout.readline().decode().strip()


def _markdown(turns: Sequence[Turn], machine: Sequence[str]) -> str:
    parts = [
        f"## Against `{ALONE}` for scrapes, `{UNJUDGED}` for `sources`, else `{CONTROL}`",
        "Median of the rounds' ratios, in brackets the least and the greatest.",
        _table(turns, RATIOS, _ratios),
        "## Measured",
        "\n".join(f"- {fact}" for fact in machine),
        "Milliseconds, unless another unit is named.",
        _table(turns, ABSOLUTE, _values),
        f"errors: {sum(turn.errors for turn in turns)}",
    ]
    return "\n\n".join(parts)


def _table(turns: Sequence[Turn], names: Sequence[str], values: Values) -> str:
    phases = dict.fromkeys(turn.phase for turn in turns)
    lines = [
        row([phase, *(with_spread(values(turns, phase, name)) for name in names)])
        for phase in phases
    ]
    return "\n".join([*table_head(names), *lines])


def _values(turns: Sequence[Turn], phase: str, name: str) -> list[float]:
    figures = [turn.figure(name) for turn in turns if turn.phase == phase]
    return [figure for figure in figures if figure is not None]


def _ratios(turns: Sequence[Turn], phase: str, name: str) -> list[float]:
    controls = {(turn.round, turn.phase): turn.figure(name) for turn in turns}
    own = [turn for turn in turns if turn.phase == phase]
    pairs = [(turn.figure(name), controls.get((turn.round, turn.control))) for turn in own]
    return [figure / control for figure, control in pairs if figure is not None and control]


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    names = [phase.name for phase in PHASES]
    parser = argparse.ArgumentParser(description="Measure what stops other streams.")
    parser.add_argument("--seconds", type=float, default=4.0, help="a phase's length (4)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of all phases (3)")
    parser.add_argument("--only", nargs="+", default=names, choices=names, metavar="PHASE")
    parser.add_argument("--json", type=Path, dest="json_file", help="every figure of every round")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
