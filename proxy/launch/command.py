"""The command `recipe up`: everything that can be wrong first, then proxy, engine, and its end."""

import os
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from proxy.app import Surroundings
from proxy.errors import SluicegateError
from proxy.launch.address import EngineAddress
from proxy.launch.display import Display
from proxy.launch.front import serving
from proxy.launch.log_file import LogFile, log_path
from proxy.launch.options import UpOptions
from proxy.launch.plan import LaunchPlan, launch_plan
from proxy.launch.ready import ReadyReport
from proxy.launch.restarts import RestartRule, Restarts
from proxy.launch.stop_signal import StopSignal
from proxy.launch.supervisor import Limits, Supervisor
from proxy.recipes.launchable.refusals import Allowance
from proxy.recipes.reading import Reading
from proxy.recipes.recipe import Recipe
from proxy.recipes.vllm.installed import find_vllm
from proxy.server import fast_runner, speak_on_stderr
from proxy.settings import Settings, load_settings

OK: Final = 0
INTERRUPTED: Final = 130
_FLAGS: Final = {
    "lanes.main.url": "the recipe's address",
    "listen.port": "--port",
    "admin.port": "--admin-port",
    "ledger.url": "--ledger",
}
_LOGS: Final = Path("sluicegate", "engines")


class VllmMissing(SluicegateError):
    """There is no vLLM to be started."""


def up(reading: Reading, options: UpOptions) -> int:
    """Start the engine of a recipe and keep it until a signal; the exit code.

    Raises `ConfigError` and other `SluicegateError`s: for what is wrong before anything is
    started, and for an engine that died.
    """
    display = Display(sys.stderr, os.environ, verbose=options.verbose)
    launch = prepare(reading, options, os.environ, datetime.now().astimezone())
    speak_on_stderr()
    with fast_runner() as runner:
        return runner.run(run(launch, display))


@dataclass(frozen=True, slots=True)
class Launch:
    """One start with all its choices made. `python` is that of the vLLM."""

    recipe: Recipe
    options: UpOptions
    environ: Mapping[str, str]
    plan: LaunchPlan
    python: Path
    address: EngineAddress
    settings: Settings
    log: Path


def prepare(
    reading: Reading, options: UpOptions, environ: Mapping[str, str], now: datetime
) -> Launch:
    """Find out everything that can be known before the start.

    Raises `RecipeError`, `SettingsError`, `VllmMissing` and `InstalledVllmError`.
    """
    found = find_vllm(options.vllm, environ)
    if found is None:
        raise VllmMissing(
            "no vLLM is installed here (install it, name one with --vllm PROGRAM, or print the "
            "container's command with --docker)"
        )
    allowance = Allowance(options.ignore_mods, frozenset(options.allow_env))
    plan = launch_plan(reading, found.program, allowance)
    recipe = reading.whole()
    address = EngineAddress.of(recipe)
    address.check_free()
    folder = options.log_folder or _state_folder(environ) / _LOGS
    settings = _settings(options, environ, address)
    log = log_path(folder, recipe.name, now)
    return Launch(recipe, options, environ, plan, found.python, address, settings, log)


async def run(launch: Launch, display: Display, stop: StopSignal | None = None) -> int:
    """The same inside a running loop."""
    options = launch.options
    stop = stop or StopSignal()
    _announce(launch, display)
    async with AsyncExitStack() as stack:
        stack.enter_context(stop.heard())
        log = stack.enter_context(LogFile(launch.log))
        front = None
        if options.with_proxy:
            around = Surroundings(recipe=launch.recipe)
            front = await stack.enter_async_context(serving(launch.settings, stop, around))
        ready = ReadyReport(
            recipe=launch.recipe,
            python=launch.python,
            address=launch.address,
            ledger=launch.settings.ledger.address,
            display=display,
            front=front,
        )
        supervisor = Supervisor(
            plan=launch.plan,
            environ=launch.environ,
            url=launch.address.url,
            limits=Limits(options.boot_seconds, options.stop_seconds),
            restarts=Restarts(RestartRule() if options.restart else None),
            display=display,
            log=log,
            stop=stop,
            on_ready=ready,
            before_stop=front.drain if front else _nothing,
        )
        was_ready = await supervisor.run()
    display.title("Stopped; no process of the engine is left.")
    return OK if was_ready else INTERRUPTED


def _announce(launch: Launch, display: Display) -> None:
    recipe = launch.recipe
    display.title(f"{recipe.name} ({recipe.file}): {' '.join(launch.plan.arguments[:3])} …")
    for note in launch.plan.notes:
        display.note(note)


def _settings(options: UpOptions, environ: Mapping[str, str], address: EngineAddress) -> Settings:
    flags: dict[str, object] = {"lanes.main.url": address.url, "ledger.url": options.ledger_url}
    if options.with_proxy:
        flags |= {"listen.port": options.port, "admin.port": options.admin_port}
    return load_settings(options.config, environ, flags, _FLAGS)


def _state_folder(environ: Mapping[str, str]) -> Path:
    """By the XDG Base Directory Specification."""
    return Path(environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")


async def _nothing() -> None:
    pass
