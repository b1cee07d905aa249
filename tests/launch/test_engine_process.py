import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from proxy.launch.engine_process import EngineProcess, EngineUnstartable
from proxy.launch.plan import LaunchPlan
from proxy.launch.session import members
from tests.fakes.gate import eventually

DEAF = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
print("here", flush=True)
time.sleep(300)
"""


async def _started(source: str, heard: bytearray, *arguments: str) -> EngineProcess:
    plan = LaunchPlan((sys.executable, "-c", source, *arguments), {"OF_THE_RECIPE": "1"})
    return await EngineProcess.start(plan, os.environ, heard.extend)


async def test_everything_printed_is_heard_before_the_end_is_told() -> None:
    heard = bytearray()
    source = "import sys; print('x' * 300000, flush=True); sys.exit('last words')"
    engine = await _started(source, heard)

    status = await engine.ended()

    assert status == 1
    assert (
        heard == b"x" * 300000 + b"\nlast words\n"
        or heard == b"last words\n" + b"x" * 300000 + b"\n"
    )


async def test_engine_has_our_environment_and_the_recipe_s_and_nothing_of_the_proxy_s() -> None:
    heard = bytearray()
    source = (
        "import os; print(sorted(name for name in os.environ if name[:2] in ('OU', 'OF', 'SL')))"
    )
    plan = LaunchPlan((sys.executable, "-c", source), {"OF_THE_RECIPE": "1"})

    engine = await EngineProcess.start(
        plan, {"OURS": "1", "SLUICEGATE_ADMIN_TOKEN": "secret"}, heard.extend
    )
    await engine.ended()

    assert heard == b"['OF_THE_RECIPE', 'OURS']\n"


async def test_stop_waits_for_an_engine_that_ends_well() -> None:
    engine = await _started("import time; time.sleep(300)", bytearray())

    assert await engine.stop(60, asyncio.Event()) == -signal.SIGTERM


async def test_engine_that_does_not_stop_in_time_is_ended_with_its_children() -> None:
    heard = bytearray()
    engine = await _started(DEAF, heard)
    await eventually(lambda: b"here" in heard)

    status = await engine.stop(0.05, asyncio.Event())

    assert status == -signal.SIGKILL
    assert list(members(engine.pid)) == []


async def test_user_in_a_hurry_waits_no_longer() -> None:
    heard, hurry = bytearray(), asyncio.Event()
    engine = await _started(DEAF, heard)
    await eventually(lambda: b"here" in heard)
    hurry.set()

    assert await engine.stop(600, hurry) == -signal.SIGKILL


async def test_engine_whose_keeper_was_killed_is_ended_by_us() -> None:
    heard = bytearray()
    engine = await _started(DEAF, heard)
    await eventually(lambda: b"here" in heard)

    engine._keeper.kill()
    await engine.ended()

    assert list(members(engine.pid)) == []


async def test_program_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "vllm").write_text("no program")

    with pytest.raises(EngineUnstartable, match=r"could not be started: .*Permission denied"):
        await EngineProcess.start(LaunchPlan((f"{tmp_path}/vllm",), {}), os.environ, print)
