"""Something to look at: the imitation, the proxy and a load, watched by a real Prometheus."""

import asyncio
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

SCRAPE_SECONDS: Final = 5
# What a curve's rates look back on: a run of minutes has no use for the window of a day.
WINDOW_SECONDS: Final = 40
_PROGRAM: Final = Path(__file__).parents[2] / "sluicegate.py"
_STOP_SECONDS: Final = 30.0


class DemoEnded(Exception):
    """The demo is over before it should be; the text says with which code."""


@asynccontextmanager
async def live(minutes: float) -> AsyncIterator[str]:
    """Run for so long, restart the engine halfway; gives Prometheus's address when time is up.

    Everything still runs inside the block, and is stopped after it. Raises `DemoEnded`.
    """
    ports = {name: _free_port() for name in ("port", "admin", "imitation", "prometheus")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(_PROGRAM), "demo", "--imitate", "mtp1", "--prometheus"),
        *("--port", str(ports["port"]), "--admin-port", str(ports["admin"])),
        *("--imitation-port", str(ports["imitation"])),
        *("--prometheus-port", str(ports["prometheus"])),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        await _keep_running(process, minutes * 30)
        process.send_signal(signal.SIGHUP)
        await _keep_running(process, minutes * 30)
        yield f"http://127.0.0.1:{ports['prometheus']}"
    finally:
        await _stop(process)


async def _keep_running(process: asyncio.subprocess.Process, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            code = await process.wait()
    except TimeoutError:
        return
    raise DemoEnded(f"sluicegate demo --imitate mtp1 --prometheus ended with code {code}")


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.send_signal(signal.SIGINT)
    try:
        async with asyncio.timeout(_STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
