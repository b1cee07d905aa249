"""A Prometheus of the demo's own: found, started with a folder that goes away, and stopped."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import aiohttp

from proxy.errors import SluicegateError

PROGRAM: Final = "prometheus"
INSTALL: Final = (
    "Prometheus is not installed. On Debian and Ubuntu: apt install prometheus; elsewhere: "
    "https://prometheus.io/download/. The demo goes on without it."
)
_HOST: Final = "127.0.0.1"
_READY_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.1
_TAIL_BYTES: Final = 2000

Which = Callable[[str], str | None]


class PrometheusFailed(SluicegateError):
    """Prometheus ended, or was not ready in time; the message ends with its last words."""


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A ready one. `ended` raises `PrometheusFailed` when it ends by itself."""

    url: str
    process: asyncio.subprocess.Process
    log: IO[bytes]

    async def ended(self) -> None:
        status = await self.process.wait()
        raise PrometheusFailed(f"Prometheus ended with status {status}.\n{_tail(self.log)}")


def find_prometheus(which: Which = shutil.which) -> tuple[str, ...] | None:
    """The command that starts it, None where it is not installed.

    With util-linux it is told to end with us, even if we are killed.
    """
    program = which(PROGRAM)
    if program is None:
        return None
    setpriv = which("setpriv")
    return (setpriv, "--pdeathsig", "TERM", program) if setpriv else (program,)


@asynccontextmanager
async def running_prometheus(
    command: tuple[str, ...], config: str, port: int
) -> AsyncIterator[Prometheus]:
    """Start it, yield it when it is ready, and leave neither process nor data behind.

    It has a session of its own, so that Ctrl-C reaches only us. Raises `PrometheusFailed`.
    """
    with (
        tempfile.TemporaryDirectory(prefix="sluicegate-prometheus-") as folder,
        tempfile.TemporaryFile() as log,
    ):
        file = Path(folder) / "prometheus.yaml"
        file.write_text(config, encoding="utf-8")
        process = await asyncio.create_subprocess_exec(
            *command,
            f"--config.file={file}",
            f"--storage.tsdb.path={Path(folder) / 'data'}",
            f"--web.listen-address={_HOST}:{port}",
            "--enable-feature=exemplar-storage",
            "--log.level=warn",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )
        prometheus = Prometheus(f"http://{_HOST}:{port}", process, log)
        try:
            await _until_ready(prometheus)
            yield prometheus
        finally:
            await _stop(process)


async def _until_ready(prometheus: Prometheus) -> None:
    try:
        async with asyncio.timeout(_READY_SECONDS), aiohttp.ClientSession() as session:
            while not await _is_ready(session, prometheus.url):
                if prometheus.process.returncode is not None:
                    await prometheus.ended()
                await asyncio.sleep(_POLL_SECONDS)
    except TimeoutError as error:
        message = f"Prometheus was not ready after {_READY_SECONDS:g} s.\n{_tail(prometheus.log)}"
        raise PrometheusFailed(message) from error
    if prometheus.process.returncode is not None:
        # Another program answers at this port.
        await prometheus.ended()


async def _is_ready(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(f"{url}/-/ready") as response:
            return response.ok
    except aiohttp.ClientError:
        return False


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Asked first; killed when it lingers."""
    try:
        if process.returncode is None:
            process.terminate()
        async with asyncio.timeout(_STOP_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()


def _tail(log: IO[bytes]) -> str:
    size = log.seek(0, 2)
    log.seek(max(0, size - _TAIL_BYTES))
    return log.read().decode(errors="replace").strip()
