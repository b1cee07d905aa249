"""Sluicegate as `serve` runs it, which tells how much of it lives.

    python benchmarks/counted_gate.py --config sluicegate.yaml

Prints `ready`, and for each SIGUSR1 one JSON line. The request log is thrown away.
"""

import argparse
import asyncio
import gc
import json
import os
import signal
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from proxy.app import Surroundings, open_app
from proxy.server import bound, fast_runner, serve
from proxy.settings import Settings, load_settings


@dataclass(frozen=True, slots=True)
class Living:
    """`tasks` of the event loop by the name of their coroutine; `objects` the collector follows."""

    tasks: dict[str, int]
    objects: int


def living() -> Living:
    """Count, once the collector has taken what nobody holds any more."""
    gc.collect()
    names = (_name(task) for task in asyncio.all_tasks())
    return Living(dict(Counter(names)), len(gc.get_objects()))


def _name(task: asyncio.Task[object]) -> str:
    return getattr(task.get_coro(), "__qualname__", "?")


async def _serve(settings: Settings, around: Surroundings) -> None:
    def tell() -> None:
        print(json.dumps(asdict(living())), flush=True)

    with bound(settings) as sockets:
        async with open_app(settings, around) as app:
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, tell)
            await serve(app, sockets, on_ready=lambda: print("ready", flush=True))


def _main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--config", type=Path, required=True)
    options = parser.parse_args()
    settings = load_settings(options.config, os.environ, {}, {})
    with Path(os.devnull).open("w") as log, fast_runner() as runner:
        runner.run(_serve(settings, Surroundings(log=log)))


if __name__ == "__main__":
    _main()
