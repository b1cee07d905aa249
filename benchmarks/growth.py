"""How the cost of Sluicegate grows: with long replies, many policies, large schemas, many streams.

    python benchmarks/growth.py [--quick] [--rounds 2] [--only "passed stream"] [--write]

Cost is the processor time of all its processes, so other programs disturb it little. See
benchmarks/README.md for the method. Exits with 0 whatever the figures are.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from axes import AXES, Axis, Case
from bystanders import Moment, look_around, told
from growth_table import Point, markdown
from machine import machine_facts, rounds
from pages import PERFORMANCE, write_section
from peers import Launch, configured, sluicegate_command
from policy_folder import policies_in
from running import Running, fake_upstream, launched, loaded

SECTION = "growth"
WARM_UP = 4


class LoadFailed(Exception):
    """A load met errors, so that its cost says nothing."""


def main(arguments: Sequence[str]) -> None:
    options = _options(arguments)
    axes = [axis for axis in AXES if axis.name in options.only]
    print(look_around(), file=sys.stderr, flush=True)
    begin = Moment.now()
    points = list(_points(axes, options.rounds, quick=options.quick))
    others = told(Moment.now().bystanders_since(begin))
    facts = [*machine_facts(rounds(options.rounds)), others]
    report = markdown(axes, points, facts)
    print(report)
    if options.write:
        write_section(PERFORMANCE, SECTION, report)


def _points(axes: Sequence[Axis], rounds: int, *, quick: bool) -> Iterator[Point]:
    with fake_upstream() as upstream, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(1, rounds + 1):
            for axis in axes:
                print(f"round {number}: {axis.name}", file=sys.stderr, flush=True)
                for size in axis.sizes[:2] if quick else axis.sizes:
                    case = axis.case(size)
                    with launched(_launch(case, upstream, folder), folder, "growth") as running:
                        yield Point(axis.name, size, _cost_us(case, running, folder))


def _launch(case: Case, upstream: str, folder: Path) -> Launch:
    policies, order = policies_in(folder / f"policies-{case.policies}", case.policies)
    return configured(sluicegate_command(), upstream, folder, policies, order)


def _cost_us(case: Case, running: Running, folder: Path) -> float:
    """Microseconds of processor time for one unit. Raises `LoadFailed`."""
    body = folder / "body.json"
    body.write_bytes(case.body)
    _send(running, case, body, WARM_UP)
    before = _cpu_seconds(running)
    _send(running, case, body, case.count)
    return (_cpu_seconds(running) - before) * 1e6 / (case.count * case.units)


def _send(running: Running, case: Case, body: Path, count: int) -> None:
    options = ["--body", str(body), "--count", str(count)]
    options += ["--concurrency", str(case.concurrency)]
    figures = loaded(running.url, case.kind, *options)
    if figures.errors or figures.replies < count:
        raise LoadFailed(f"{figures.errors} errors beside {figures.replies} good replies")


def _cpu_seconds(running: Running) -> float:
    seconds = running.family.cpu_seconds() if running.family else None
    if seconds is None:
        raise LoadFailed("there is no /proc here, so processor time cannot be read")
    return seconds


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    names = [axis.name for axis in AXES]
    parser = argparse.ArgumentParser(description="Measure how the cost grows.")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of all axes (2)")
    parser.add_argument("--quick", action="store_true", help="two sizes of each: does it run?")
    parser.add_argument("--only", nargs="+", default=names, choices=names, metavar="AXIS")
    parser.add_argument("--write", action="store_true", help="into docs/, too")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
