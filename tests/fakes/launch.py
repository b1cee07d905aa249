"""Recipes, a stand-in for vLLM's program, and screens for the launcher."""

import asyncio
import io
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from proxy.launch.command import Launch, prepare, run
from proxy.launch.display import Display
from proxy.launch.options import UpOptions
from proxy.launch.stop_signal import StopSignal
from proxy.recipes.reading import Reading, open_recipe
from proxy.recipes.recipe import Recipe
from tests.engines.server import free_port

_PROGRAM = Path(__file__).with_name("stand_in_vllm.py")
RECORDED = Path(__file__).parents[1] / "recorded"
BOOT_LOG = RECORDED / "vllm_boot_mtp2.log"
COLD_METRICS = (RECORDED / "vllm_metrics_cold.txt").read_text()
NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)

RECIPE = """\
recipe_version: "1"
name: tiny recipe
container: image:1
model: tiny
defaults: {{port: {port}, host: 127.0.0.1}}
env: {{VLLM_STAND_IN: a b}}
command: |
  vllm serve /models/tiny --served-model-name tiny --host {{host}} --port {{port}} \\
    --max-model-len 2048 --speculative-config '{{{{"method":"mtp","num_speculative_tokens":2}}}}'
"""


def recipe_at(folder: Path, port: int) -> Recipe:
    """One that a stand-in can serve."""
    return reading_at(folder, port).whole()


def reading_at(folder: Path, port: int) -> Reading:
    """The same as it was read."""
    path = folder / "tiny.yaml"
    path.write_text(RECIPE.format(port=port))
    return open_recipe(path)


def stand_in(folder: Path) -> Path:
    """A `vllm` program that imports nothing but Python's own."""
    path = folder / "vllm"
    path.write_text(f"#!{sys.executable} -IS\n{_PROGRAM.read_text()}")
    path.chmod(0o755)
    return path


def environ(**does: Any) -> dict[str, str]:
    """Ours, and what the stand-in is to do: any of

    `tells` (a file for its arguments and environment), `ends`, `log` (a file to print), `hangs`,
    `dies` (a status), `deaf` (to SIGTERM), `metrics` (a page), `dies_ready` with `once` (a file).
    """
    return {**os.environ, "STAND_IN": json.dumps(does, default=str)}


class Screen:
    """Where a display writes."""

    encoding = "utf-8"

    def __init__(self, *, terminal: bool = False) -> None:
        self._terminal = terminal
        self._text = io.StringIO()

    def write(self, text: str, /) -> int:
        return self._text.write(text)

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return self._terminal

    def getvalue(self) -> str:
        return self._text.getvalue()

    async def shows(self, text: str, seconds: float = 20.0) -> None:
        """Wait until it stands there."""
        async with asyncio.timeout(seconds):
            while text not in self.getvalue():  # noqa: ASYNC110 - another process prints it
                await asyncio.sleep(0.01)


@dataclass(frozen=True, slots=True)
class Up:
    """A `recipe up` that runs in this loop. `task` returns its exit code."""

    launch: Launch
    screen: Screen
    stop: StopSignal
    task: asyncio.Task[int]

    async def ready(self) -> None:
        """Wait for it, or for the end if that comes first."""
        showing = asyncio.create_task(self.screen.shows("Ctrl-C"))
        done, _ = await asyncio.wait({showing, self.task}, return_when=asyncio.FIRST_COMPLETED)
        showing.cancel()
        if self.task in done:
            raise AssertionError(f"it ended: {self.task.result()}\n{self.screen.getvalue()}")


def prepared(folder: Path, options: UpOptions | None = None, **does: Any) -> Launch:
    """A launch of the stand-in with logs and ledger in the folder."""
    chosen = options or UpOptions(ledger_url="none")
    chosen = replace(chosen, vllm=stand_in(folder), log_folder=folder / "logs")
    return prepare(reading_at(folder, free_port()), chosen, environ(**does), NOW)


@asynccontextmanager
async def running(launch: Launch) -> AsyncIterator[Up]:
    """Runs it; whatever the block leaves running is ended."""
    screen, stop = Screen(), StopSignal()
    task = asyncio.create_task(run(launch, Display(screen, {}), stop))
    try:
        yield Up(launch, screen, stop, task)
    finally:
        stop.tell()
        stop.tell()
        await asyncio.wait({task})
