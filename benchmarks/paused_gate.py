"""Sluicegate as `serve` runs it, with a heartbeat on its event loop that notes how long it stops.

    python benchmarks/paused_gate.py --config sluicegate.yaml [--judge-here]

Prints `ready`, and for each SIGUSR1 one JSON line about the time since the last one. The request
log is thrown away.
"""

import argparse
import asyncio
import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from typing_extensions import ParamSpec, TypeVar, override

from proxy.app import Surroundings, open_app
from proxy.contract.judge_process import JudgeProcess
from proxy.server import bound, fast_runner, serve
from proxy.settings import Settings, load_settings

BEAT_SECONDS = 0.001
LONG_SECONDS = 0.005

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True)
class Pauses:
    """The time between beats beyond the beat itself, in milliseconds.

    `busy` counts the CPU that the process, all its threads together, used between two beats: a
    pause without it is another program's doing. `long` counts pauses over 5 ms, `long_busy` those
    in which the process was busy for so long.
    """

    seconds: float = 0.0
    longest_ms: float = 0.0
    longest_busy_ms: float = 0.0
    long: int = 0
    long_busy: int = 0

    def take(self, passed_seconds: float, busy_seconds: float) -> None:
        paused = max(0.0, passed_seconds - BEAT_SECONDS)
        busy = min(paused, busy_seconds)
        self.seconds += passed_seconds
        self.longest_ms = max(self.longest_ms, paused * 1000)
        self.longest_busy_ms = max(self.longest_busy_ms, busy * 1000)
        self.long += paused > LONG_SECONDS
        self.long_busy += busy > LONG_SECONDS


class Heart:
    """Beats on the running loop until the process ends."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._pauses = Pauses()
        self._beat_at, self._used = time.perf_counter(), time.process_time()
        self._loop.call_later(BEAT_SECONDS, self._beat)

    def tell(self) -> None:
        """Print what was noted, and begin anew."""
        print(json.dumps(asdict(self._pauses)), flush=True)
        self._pauses = Pauses()

    def _beat(self) -> None:
        now, used = time.perf_counter(), time.process_time()
        self._pauses.take(now - self._beat_at, used - self._used)
        self._beat_at, self._used = now, used
        self._loop.call_later(BEAT_SECONDS, self._beat)


class JudgesHere(JudgeProcess):
    """No process at all: what judging costs the streams without one."""

    @override
    async def _run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return work(*args, **kwargs)


async def _serve(settings: Settings, around: Surroundings) -> None:
    with bound(settings) as sockets:
        async with open_app(settings, around) as app:
            heart = Heart()
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, heart.tell)
            await serve(app, sockets, on_ready=lambda: print("ready", flush=True))


def _main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--judge-here", action="store_true", help="without the judging process")
    options = parser.parse_args()
    settings = load_settings(options.config, os.environ, {}, {})
    process = JudgesHere() if options.judge_here else None
    with Path(os.devnull).open("w") as log, fast_runner() as runner:
        runner.run(_serve(settings, Surroundings(log=log, judge_process=process)))


if __name__ == "__main__":
    _main()
