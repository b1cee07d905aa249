"""Does anything stay behind? 100,000 requests and 10,000 streams through one proxy, of every kind:
passed, judged, rejected after three attempts, and left by the client.

    python benchmarks/soak.py [--quick] [--requests 100000] [--write]

Memory is measured after each twentieth; at the end tasks, sockets, file descriptors and processes
are counted and compared with those before. See benchmarks/README.md. Exits with 1 when something
stayed behind.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from asks import Ask
from bystanders import Moment, look_around, told
from left_over import Left, Part, Soaked
from machine import machine_facts
from pages import PERFORMANCE, write_section
from peers import configured
from processes import HERE, Family, child
from running import DidNotStart, fake_upstream, figures_of, get, load_command

SECTION = "soak"
PARTS = 20
REQUESTS = 100_000
QUICK_REQUESTS = 2_000
STREAMS_SHARE = 0.1  # streams beside each request
CONNECTIONS = 4  # of each kind, all kinds at once
REST_SECONDS = 60.0
MOST_SECONDS = 480.0  # no part begins later: a slow machine does fewer
LOOK_SECONDS = 0.5
STEADY_SECONDS = 7.0
_REFUSED = "422"


@dataclass(frozen=True, slots=True)
class Kind:
    """A share of the requests, or of the streams."""

    kind: str
    ask: Ask
    share: float
    status: str = "200"

    def count(self, requests: int) -> int:
        whole = requests if self.kind == "json" else requests * STREAMS_SHARE
        return max(1, round(whole * self.share))


KINDS = (
    Kind("json", Ask.PLAIN, 0.6),
    Kind("json", Ask.STRICT, 0.2),
    Kind("json", Ask.CALL, 0.16),
    Kind("json", Ask.PROSE, 0.04, _REFUSED),
    Kind("stream", Ask.PLAIN, 0.4),
    Kind("stream", Ask.OFFERED, 0.2),
    Kind("stream", Ask.STRICT, 0.15),
    Kind("stream", Ask.CALL, 0.15),
    Kind("left", Ask.PLAIN, 0.1),
)


@dataclass(frozen=True, slots=True)
class Gate:
    """The running proxy and the ways to look into it."""

    url: str
    metrics_url: str
    process: subprocess.Popen[bytes]

    def left(self) -> Left:
        """What lives now, seen from inside, in /proc and on the metrics page."""
        self.process.send_signal(signal.SIGUSR1)
        living = json.loads(_line_of(self.process))
        samples = self.samples()
        family = Family(self.process.pid)
        return Left(
            tasks=living["tasks"],
            objects=living["objects"],
            open_files=family.open_files(),
            sockets=family.sockets(),
            processes=len(family.members()),
            in_flight=int(samples["sluicegate_requests_in_flight"]),
            queued=int(samples["sluicegate_queue_depth"]),
            counted=int(sum(_named(samples, "sluicegate_requests_total"))),
        )

    def samples(self) -> dict[str, float]:
        answer = get(self.metrics_url)
        lines = answer[1].decode().splitlines() if answer else []
        pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    def rested(self, is_enough: Callable[[Left], bool]) -> Left:
        """What is left as soon as it is little enough, at the latest after a minute."""
        deadline = time.monotonic() + REST_SECONDS
        while not is_enough(left := self.left()) and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)
        return left

    def part(self, done: int, errors: int) -> Part:
        resident = Family(self.process.pid).resident_mib()
        return Part(done, errors, resident or 0.0)


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    print(look_around(), file=sys.stderr, flush=True)
    begin = Moment.now()
    soaked = _soak(options.requests)
    others = told(Moment.now().bystanders_since(begin))
    facts = [*machine_facts(f"{soaked.sent:,} requests"), others]
    report = soaked.markdown(facts)
    print(report)
    if options.write:
        write_section(PERFORMANCE, SECTION, report)
    return 0 if soaked.is_clean else 1


def _soak(requests: int) -> Soaked:
    """A first part warms everything up: caches, pools, the judging processes."""
    latest = time.monotonic() + MOST_SECONDS
    with _gate() as gate:
        _run_part(gate, requests // PARTS)
        before = gate.rested(_Steady())
        parts: list[Part] = []
        for number in range(1, PARTS + 1):
            if time.monotonic() > latest:
                break
            errors = _run_part(gate, requests // PARTS)
            parts.append(gate.part(number * (requests // PARTS), errors))
            print(parts[-1].told, file=sys.stderr, flush=True)
        after = gate.rested(lambda left: left.is_no_more_than(before))
        return Soaked(parts, before, after, _sent(requests // PARTS) * len(parts))


class _Steady:
    """Whether nothing changes any more: idle connections upstream are closed by then."""

    def __init__(self) -> None:
        self._last = (-1, -1)
        self._looks = 0

    def __call__(self, left: Left) -> bool:
        now = (left.sockets, sum(left.tasks.values()))
        self._looks = self._looks + 1 if now == self._last else 0
        self._last = now
        return self._looks * LOOK_SECONDS >= STEADY_SECONDS


def _run_part(gate: Gate, requests: int) -> int:
    """All kinds at once; returns the errors."""
    with ExitStack() as stack:
        loads = []
        for kind in KINDS:
            options = ["--ask", kind.ask, "--status", kind.status]
            options += ["--concurrency", str(CONNECTIONS), "--count", str(kind.count(requests))]
            command = load_command(gate.url, kind.kind, *options)
            loads.append(stack.enter_context(child(command, None, HERE)))
        return sum(figures_of(load).errors for load in loads)


def _sent(requests: int) -> int:
    """Requests and streams of one part."""
    return sum(kind.count(requests) for kind in KINDS)


@contextmanager
def _gate() -> Iterator[Gate]:
    with fake_upstream() as upstream, tempfile.TemporaryDirectory() as name:
        script = (sys.executable, str(HERE / "counted_gate.py"))
        launch = configured(script, upstream, Path(name))
        with child(launch.command, None, Path(name)) as process:
            if _line_of(process) != "ready":
                raise DidNotStart("the proxy ended at once; its reason stands above")
            yield Gate(launch.url, launch.metrics_url, process)


def _line_of(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None  # noqa: S101 -- for the type checker
    return process.stdout.readline().decode().strip()


def _named(samples: dict[str, float], name: str) -> Iterator[float]:
    return (value for spelled, value in samples.items() if spelled.partition("{")[0] == name)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Does anything stay behind?")
    parser.add_argument("--requests", type=int, help=f"{REQUESTS:,}; quick: {QUICK_REQUESTS:,}")
    parser.add_argument("--quick", action="store_true", help="does it run?")
    parser.add_argument("--write", action="store_true", help="into docs/, too")
    options = parser.parse_args(arguments)
    options.requests = options.requests or (QUICK_REQUESTS if options.quick else REQUESTS)
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
