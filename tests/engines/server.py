"""One `vllm serve` in a session of its own: started, watched, killed in parts, never left over."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import aiohttp

from tests.engines import keeper
from tests.engines.environment import VllmEnvironment

READY_SECONDS: Final = 300.0
_STOP_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.2
_TAIL_LINES: Final = 25
_ROOT: Final = Path(__file__).parents[2]


class ServerFailed(Exception):
    """vLLM died or was not ready in time. The message ends with the tail of its log."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What is served and how. `name` also names the log; `variables` are added to the usual."""

    environment: VllmEnvironment
    model: Path
    name: str
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    port: int = 0


class VllmServer:
    """A running vLLM. `async with VllmServer(engine) as server` waits until it is healthy.

    All of its processes share a session, whose number is the API server's process id; `stop` and a
    keeper beside it (which outlives a killed test run) end whatever is left of that session.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.port = engine.port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = engine.environment.cache.scratch("logs") / f"{engine.name}-{self.port}.log"
        self.seconds_to_ready = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper: subprocess.Popen[bytes] | None = None
        self._temporary: Path | None = None
        self._shared: set[Path] = set()
        self._began = 0.0

    async def __aenter__(self) -> Self:
        self.launch()
        try:
            await self.until_ready()
        except BaseException:
            self.end()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self.stop()
        finally:
            self.end()

    def launch(self) -> None:
        """Start it without waiting: until it has loaded, nothing listens on its port.

        Raises `ServerFailed` where somebody else listens there already.
        """
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                raise ServerFailed(f"{self.engine.name}: port {self.port} is taken")
        self._began = time.monotonic()
        # Sockets between its processes: their paths must be short.
        self._temporary = Path(tempfile.mkdtemp(prefix="vllm-"))
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command(),
                env=self._variables(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                cwd=self._temporary,
            )
        self._keeper = subprocess.Popen(
            [sys.executable, "-m", keeper.__name__, str(self.pid), self._temporary],
            stdin=subprocess.PIPE,
            start_new_session=True,
            cwd=_ROOT,
        )

    def again(self, engine: Engine | None = None) -> "VllmServer":
        """Another start at the same address, of the same engine if no other is given."""
        return VllmServer(replace(engine or self.engine, port=self.port))

    async def until_ready(self, seconds: float = READY_SECONDS) -> float:
        """Wait for /health; the seconds since the launch. Raises `ServerFailed`."""
        timeout = aiohttp.ClientTimeout(total=2)
        async with aiohttp.ClientSession(timeout=timeout) as http:
            while not await self._is_healthy(http):
                waited = time.monotonic() - self._began
                if (status := self.status()) is not None:
                    raise ServerFailed(self._told(f"ended with status {status}"))
                if waited > seconds:
                    raise ServerFailed(self._told(f"was not ready after {seconds:.0f} s"))
                await asyncio.sleep(_POLL_SECONDS)
        self.seconds_to_ready = time.monotonic() - self._began
        self._shared = keeper.shared_memory(self.members())
        self.engine.environment.cache.say(
            f"{self.engine.name}: vLLM {self.engine.environment.version} ready in "
            f"{self.seconds_to_ready:.0f} s"
        )
        return self.seconds_to_ready

    @property
    def pid(self) -> int:
        """The API server's process id, and the number of the session of them all."""
        if self._process is None:
            raise ServerFailed(f"{self.engine.name} was never launched")
        return self._process.pid

    def status(self) -> int | None:
        """The API server's exit status; None while it runs."""
        return self._process.poll() if self._process else None

    def members(self) -> list[keeper.Member]:
        """All its living processes, orphans included."""
        return list(keeper.members(self.pid))

    def pid_of(self, title: str) -> int:
        """The process whose title holds a word: `EngineCore`, `Worker`. Raises `ServerFailed`."""
        for member in self.members():
            if title in member.title:
                return member.pid
        raise ServerFailed(self._told(f"has no process {title}: {self.members()}"))

    def terminate(self) -> None:
        """SIGTERM to the API server alone, as an operator would."""
        os.kill(self.pid, signal.SIGTERM)

    def kill_api_server(self) -> None:
        """Leaves EngineCore and Worker as orphans, until `stop`."""
        os.kill(self.pid, signal.SIGKILL)

    def kill_engine_core(self) -> None:
        """The API server survives for a moment."""
        os.kill(self.pid_of("EngineCore"), signal.SIGKILL)

    @contextmanager
    def frozen_engine_core(self) -> Iterator[None]:
        """An engine that hangs: it holds its connections and sends nothing."""
        pid = self.pid_of("EngineCore")
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    async def stop(self) -> None:
        """SIGTERM, a moment to clean up, then the end of whatever is left."""
        if self.status() is None and self._process is not None:
            self.terminate()
            with suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(self._process.wait, _STOP_SECONDS)
        await asyncio.to_thread(self.end)

    def end(self) -> None:
        """Kill every process and remove what they shared. May be called at any time, and twice."""
        if self._process is not None:
            keeper.end(self._process.pid, self._shared)
            self._process.wait()
        if self._keeper is not None:
            self._keeper.communicate()
            self._keeper = None
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary = None

    async def metrics(self) -> Mapping[str, float]:
        """The engine's own counters, summed over their labels."""
        async with (
            aiohttp.ClientSession() as http,
            http.get(f"{self.url}/metrics") as page,
        ):
            lines = (await page.text()).splitlines()
        sums: defaultdict[str, float] = defaultdict(float)
        for line in lines:
            if line and not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                sums[name.partition("{")[0]] += float(value)
        return sums

    def log_tail(self, lines: int = _TAIL_LINES) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    async def _is_healthy(self, http: aiohttp.ClientSession) -> bool:
        try:
            async with http.get(f"{self.url}/health") as response:
                return response.status == 200
        except (aiohttp.ClientError, TimeoutError):
            return False

    def _command(self) -> list[str | Path]:
        engine = self.engine
        return [
            *(engine.environment.python, "-m", "vllm.entrypoints.cli.main", "serve", engine.model),
            *("--host", "127.0.0.1", "--port", str(self.port)),
            *("--served-model-name", engine.name),
            *engine.arguments,
        ]

    def _variables(self) -> dict[str, str]:
        return {
            **self.engine.environment.variables(),
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "TMPDIR": str(self._temporary),
            **self.engine.variables,
        }

    def _told(self, what: str) -> str:
        return f"{self.engine.name}: vLLM {what}. The end of {self.log}:\n{self.log_tail()}"


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port
