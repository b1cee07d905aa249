"""What a gateway costs: the same load straight to a fake upstream, through nginx, through a bare
relay, through Sluicegate with and without gates that apply, and through other gateways.

    python benchmarks/overhead.py [--quick] [--seconds 2.5] [--rounds 3] [--only direct,relay]
                                  [--json FILE] [--from FILE] [--write]

See benchmarks/README.md for the method. Exits with 0 whatever the figures are.
"""

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

from bystanders import Moment, look_around, told
from figure import TITLE, drawn
from installation import CACHE, versions
from machine import machine_facts, rounds
from measures import take_turn
from pages import FIGURE, PERFORMANCE, README, write_section
from peers import PEERS, Peer
from report import markdown, short
from running import fake_upstream
from turns import Turn

SECTION = "comparison"
QUICK_SECONDS = 0.5
MOST_SECONDS = 600.0  # no round begins later: a slow machine gets fewer


@dataclass(frozen=True, slots=True)
class Options:
    seconds: float
    rounds: int
    peers: tuple[Peer, ...]
    json_file: Path
    from_file: Path | None
    write: bool


@dataclass(frozen=True, slots=True)
class Results:
    """A run: facts about the machine and what was measured."""

    machine: list[str]
    turns: list[Turn]

    def save(self, file: Path) -> None:
        results = {"machine": self.machine, "turns": [asdict(turn) for turn in self.turns]}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(results, indent=1) + "\n")


def main(arguments: Sequence[str]) -> None:
    options = _options(arguments)
    signal.signal(signal.SIGTERM, _stop)
    results = _read(options.from_file) if options.from_file else _measure(options)
    print(markdown(results.turns, results.machine))
    if options.write:
        _write(results)


def _measure(options: Options) -> Results:
    print(look_around(), file=sys.stderr, flush=True)
    turns: list[Turn] = []
    begin = Moment.now()
    try:
        for turn in _turns(options):
            turns.append(turn)  # noqa: PERF402 -- what was measured before Ctrl-C is still shown
    except KeyboardInterrupt:
        print("Stopped early; the figures below are incomplete.\n")
    others = told(Moment.now().bystanders_since(begin))
    method = f"{rounds(turns[-1].round if turns else 0)} of {options.seconds:g} s a measure"
    results = Results([*machine_facts(method, versions()), others], turns)
    results.save(options.json_file)
    return results


def _turns(options: Options) -> Iterator[Turn]:
    """Rounds of all contenders, so that a change of the machine's mood meets each of them."""
    latest = time.monotonic() + MOST_SECONDS
    with fake_upstream() as upstream, tempfile.TemporaryDirectory() as folder:
        for number in range(1, options.rounds + 1):
            if time.monotonic() > latest:
                return
            for peer in options.peers:
                print(f"round {number}: {peer.title}", file=sys.stderr, flush=True)
                yield take_turn(number, peer, upstream, Path(folder), options.seconds)


def _read(file: Path) -> Results:
    stored = json.loads(file.read_text())
    return Results(stored["machine"], [Turn.read(turn) for turn in stored["turns"]])


def _write(results: Results) -> None:
    """Into the documentation."""
    turns, machine = results.turns, results.machine
    figure = f"![{TITLE}]"
    write_section(PERFORMANCE, SECTION, f"{figure}(performance.svg)\n\n{markdown(turns, machine)}")
    write_section(README, SECTION, f"{figure}(docs/performance.svg)\n\n{short(turns, machine)}")
    FIGURE.write_text(drawn(turns, machine), encoding="utf-8")


def _options(arguments: Sequence[str]) -> Options:
    names = [peer.name for peer in PEERS]
    parser = argparse.ArgumentParser(description="Measure what a gateway costs.")
    parser.add_argument("--seconds", type=float, help="a measure's length (2.5; quick: 0.5)")
    parser.add_argument("--rounds", type=int, help="rounds of all contenders (3; quick: 1)")
    parser.add_argument("--quick", action="store_true", help="does everything run?")
    parser.add_argument("--only", default=",".join(names), help=f"of {', '.join(names)}")
    parser.add_argument("--json", type=Path, default=CACHE / "overhead.json", dest="json_file")
    parser.add_argument("--from", type=Path, dest="from_file", help="report on an earlier run")
    parser.add_argument("--write", action="store_true", help="into docs/ and README, too")
    options = parser.parse_args(arguments)
    chosen = options.only.split(",")
    unknown = [name for name in chosen if name not in names]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(names)}")
    return Options(
        options.seconds or (QUICK_SECONDS if options.quick else 2.5),
        options.rounds or (1 if options.quick else 3),
        tuple(peer for peer in PEERS if peer.name in chosen),
        options.json_file,
        options.from_file,
        options.write,
    )


def _stop(signal_number: int, frame: object) -> NoReturn:  # noqa: ARG001 -- a signal's arguments
    raise KeyboardInterrupt


if __name__ == "__main__":
    main(sys.argv[1:])
