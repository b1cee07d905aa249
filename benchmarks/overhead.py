"""What a gateway costs: the same load straight to a fake upstream, through a bare relay, and
through Sluicegate with and without a gate that applies.

    python benchmarks/overhead.py [--seconds 4] [--rounds 3] [--only direct,relay] [--json FILE]

See benchmarks/README.md for the method. Exits with 0 whatever the figures are.
"""

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

from bystanders import Moment, told
from load import Figures
from peers import (
    HERE,
    PEERS,
    DidNotStart,
    Peer,
    Running,
    child,
    fake_upstream,
    import_seconds,
    resident_mib,
    started,
)
from report import Turn, machine_facts, markdown


@dataclass(frozen=True, slots=True)
class Measure:
    """One load. A held stream has no TTFT of its own, so strict JSON is not measured paced."""

    name: str
    kind: str
    concurrency: int

    def fits(self, peer: Peer) -> bool:
        return not (peer.strict and self.kind == "paced")


MEASURES = (
    Measure("json_1", "json", 1),
    Measure("json_16", "json", 16),
    Measure("stream_16", "stream", 16),
    Measure("paced_32", "paced", 32),
    Measure("paced_128", "paced", 128),
)


@dataclass(frozen=True, slots=True)
class Options:
    seconds: float
    rounds: int
    peers: tuple[Peer, ...]
    json_file: Path | None


def main(arguments: Sequence[str]) -> None:
    options = _options(arguments)
    signal.signal(signal.SIGTERM, _stop)
    machine = machine_facts(options.seconds, options.rounds)
    turns: list[Turn] = []
    begin = Moment.now()
    try:
        for turn in _turns(options):
            turns.append(turn)  # noqa: PERF402 -- what was measured before Ctrl-C is still shown
    except KeyboardInterrupt:
        print("Stopped early; the figures below are incomplete.\n")
    machine.append(told(Moment.now().bystanders_since(begin)))
    print(markdown(turns, machine))
    if options.json_file:
        results = {"machine": machine, "turns": [asdict(turn) for turn in turns]}
        options.json_file.write_text(json.dumps(results, indent=1) + "\n")


def _turns(options: Options) -> Iterator[Turn]:
    """Rounds of all contenders, so that a change of the machine's mood meets each of them."""
    with fake_upstream() as upstream, tempfile.TemporaryDirectory() as folder:
        for number in range(1, options.rounds + 1):
            for peer in options.peers:
                print(f"round {number}: {peer.name}", file=sys.stderr, flush=True)
                yield _turn(number, peer, upstream, Path(folder), options.seconds)


def _turn(number: int, peer: Peer, upstream: str, folder: Path, seconds: float) -> Turn:
    importing = import_seconds(peer.modules)
    try:
        with started(peer, upstream, folder) as running:
            figures = {
                measure.name: _measured(measure, peer, running, seconds)
                for measure in MEASURES
                if measure.fits(peer)
            }
            resident = resident_mib(running.group)
    except DidNotStart as error:
        return Turn(number, peer.name, failure=f"did not start: {error}")
    return Turn(
        number,
        peer.name,
        figures,
        running.start_seconds,
        importing,
        resident,
        running.scrapes.done,
        running.scrapes.failed,
    )


def _measured(measure: Measure, peer: Peer, running: Running, seconds: float) -> Figures:
    load = [sys.executable, str(HERE / "load.py"), "--url", running.url, "--kind", measure.kind]
    load += ["--concurrency", str(measure.concurrency), "--seconds", str(seconds)]
    if peer.strict:
        load.append("--strict")
    with child(load, None, HERE) as process:
        output, _ = process.communicate()
    if process.returncode:
        return Figures(completed=0, errors=1, per_second=0.0)
    return Figures(**json.loads(output))


def _options(arguments: Sequence[str]) -> Options:
    names = [peer.name for peer in PEERS]
    parser = argparse.ArgumentParser(description="Measure what a gateway costs.")
    parser.add_argument("--seconds", type=float, default=4.0, help="a measure's length (4)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of all contenders (3)")
    parser.add_argument("--only", default=",".join(names), help=f"of {', '.join(names)}")
    parser.add_argument("--json", type=Path, dest="json_file", help="every figure of every round")
    options = parser.parse_args(arguments)
    chosen = options.only.split(",")
    unknown = [name for name in chosen if name not in names]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(names)}")
    peers = tuple(peer for peer in PEERS if peer.name in chosen)
    return Options(options.seconds, options.rounds, peers, options.json_file)


def _stop(signal_number: int, frame: object) -> NoReturn:  # noqa: ARG001 -- a signal's arguments
    raise KeyboardInterrupt


if __name__ == "__main__":
    main(sys.argv[1:])
