import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from proxy.launch.display import Display
from proxy.launch.engine_end import BootTooSlow, EngineDied
from proxy.launch.engine_log import EngineLog
from proxy.launch.engine_process import EngineUnstartable
from proxy.launch.engine_view import EngineView
from proxy.launch.log_file import LogFile
from proxy.launch.plan import launch_plan
from proxy.launch.restarts import RestartRule, Restarts
from proxy.launch.session import members
from proxy.launch.stop_signal import StopSignal
from proxy.launch.supervisor import Limits, Supervisor
from tests.engines.server import free_port
from tests.fakes.launch import BOOT_LOG, Screen, environ, reading_at, stand_in

QUICK = RestartRule(first_seconds=0.01, boot_deaths=2)
NO_LIMITS = Limits(boot_seconds=None, stop_seconds=60)


@dataclass
class Witness:
    """Who is told of an engine that is ready, and of its stop."""

    url: str
    ready: list[EngineLog] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    became_ready: asyncio.Event = field(default_factory=asyncio.Event)

    async def on_ready(self, log: EngineLog, view: EngineView) -> None:
        self.ready.append(log)
        self.events.append("ready" if await view.is_healthy() else "told too early")
        self.became_ready.set()

    async def before_stop(self) -> None:
        async with EngineView(self.url) as view:
            self.events.append("drains" if await view.is_healthy() else "drains in vain")


@dataclass(frozen=True, slots=True)
class Scene:
    """A supervisor of a stand-in, and what came of it."""

    supervisor: Supervisor
    witness: Witness
    screen: Screen
    stop: StopSignal


@contextmanager
def scene(
    folder: Path,
    limits: Limits = NO_LIMITS,
    rule: RestartRule | None = None,
    program: Path | None = None,
    **does: Any,
) -> Iterator[Scene]:
    port, screen, stop = free_port(), Screen(), StopSignal()
    witness = Witness(f"http://127.0.0.1:{port}")
    with LogFile(folder / "engine.log") as log:
        supervisor = Supervisor(
            plan=launch_plan(reading_at(folder, port), (str(program or stand_in(folder)),)),
            environ=environ(**does),
            url=witness.url,
            limits=limits,
            restarts=Restarts(rule),
            display=Display(screen, {}),
            log=log,
            stop=stop,
            on_ready=witness.on_ready,
            before_stop=witness.before_stop,
        )
        yield Scene(supervisor, witness, screen, stop)


async def test_engine_lives_until_the_user_wants_it_to_stop(tmp_path: Path) -> None:
    with scene(tmp_path, log=BOOT_LOG) as at:
        running = asyncio.create_task(at.supervisor.run())
        await at.witness.became_ready.wait()
        at.stop.tell()

        assert await running
        assert at.witness.events == ["ready", "drains"]
        assert "\n  server " in at.screen.getvalue()


async def test_user_may_stop_while_it_still_boots(tmp_path: Path) -> None:
    with scene(tmp_path, hangs=True, log=BOOT_LOG) as at:
        running = asyncio.create_task(at.supervisor.run())
        await at.screen.shows("engine")
        at.stop.tell()

        assert not await running
        assert at.witness.events == ["drains in vain"]


async def test_early_death_is_explained(tmp_path: Path) -> None:
    log = tmp_path / "printed.log"
    log.write_text(
        "INFO 11-30 16:13:06 [a.py:1] non-default args: {}\nOSError: [Errno 28] No space\n"
    )

    with (
        scene(tmp_path, log=log, dies=1) as at,
        pytest.raises(EngineDied, match=r"at `arguments`: a disk is full") as died,
    ):
        await at.supervisor.run()

    assert died.value.ready_seconds is None


async def test_death_by_the_kernel_is_told_as_probable(tmp_path: Path) -> None:
    with (
        scene(tmp_path, dies=-signal.SIGKILL) as at,
        pytest.raises(EngineDied, match="probably by the kernel"),
    ):
        await at.supervisor.run()


async def test_death_after_a_life_is_told_with_how_long_that_was(tmp_path: Path) -> None:
    once = tmp_path / "now"
    with scene(tmp_path, dies_ready=3, once=once) as at:
        running = asyncio.create_task(at.supervisor.run())
        await at.witness.became_ready.wait()
        once.touch()

        with pytest.raises(EngineDied, match=r"after it had been ready for 0 s.*status 3") as died:
            await running

    assert died.value.ready_seconds is not None


async def test_boot_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with (
        scene(tmp_path, Limits(boot_seconds=0.3, stop_seconds=60), hangs=True) as at,
        pytest.raises(BootTooSlow, match=r"not ready after 0\.3 s"),
    ):
        await at.supervisor.run()


async def test_engine_that_cannot_start_is_tried_again_and_then_given_up(tmp_path: Path) -> None:
    with scene(tmp_path, rule=QUICK, dies=4) as at, pytest.raises(EngineDied):
        await at.supervisor.run()

    assert at.screen.getvalue().count("vLLM died") == 1
    assert "starting it again in 0.01 s" in at.screen.getvalue()


async def test_engine_that_died_after_a_life_lives_again(tmp_path: Path) -> None:
    once = tmp_path / "now"
    with scene(tmp_path, rule=QUICK, dies_ready=3, once=once) as at:
        running = asyncio.create_task(at.supervisor.run())
        await at.witness.became_ready.wait()
        at.witness.became_ready.clear()
        once.touch()
        await at.screen.shows("starting it again")
        once.unlink()
        await at.witness.became_ready.wait()
        at.stop.tell()

        assert await running
        assert len(at.witness.ready) == 2


async def test_user_may_stop_between_two_lives(tmp_path: Path) -> None:
    rule = RestartRule(first_seconds=600)
    with scene(tmp_path, rule=rule, dies=4) as at:
        running = asyncio.create_task(at.supervisor.run())
        await at.screen.shows("starting it again")
        at.stop.tell()

        assert not await running


async def test_program_that_is_none_is_not_tried_again(tmp_path: Path) -> None:
    with (
        scene(tmp_path, rule=QUICK, program=tmp_path / "nothing") as at,
        pytest.raises(EngineUnstartable),
    ):
        await at.supervisor.run()


async def test_launch_that_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    with scene(tmp_path, deaf=True) as at:
        running = asyncio.create_task(at.supervisor.run())
        await at.witness.became_ready.wait()
        (session,) = _sessions_of(tmp_path)
        running.cancel()
        await asyncio.wait({running})

    assert list(members(session)) == []


def _sessions_of(folder: Path) -> set[int]:
    """Those in which the stand-in of a folder runs."""
    program = f"{folder}/vllm".encode()
    found = set()
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and program in (entry / "cmdline").read_bytes():
                found.add(os.getsid(int(entry.name)))
    return found
