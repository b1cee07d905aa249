"""A real Sluicegate before a real engine: `sluicegate serve` with a settings file of its own."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import aiohttp
import openai
import yaml

from tests.engines.server import free_port

_ROOT: Final = Path(__file__).parents[2]
_PROGRAM: Final = _ROOT / "sluicegate.py"
_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 20.0
_RECORD_SECONDS: Final = 30.0
_PAUSE_SECONDS: Final = 0.05


class GateProcess:
    """`async with GateProcess(folder, upstream_url) as gate`; a second one may follow the first.

    The folder holds settings, log and ledger, so a process started there again finds its own.
    `settings` have dotted names and override what suits a test.
    """

    def __init__(
        self, folder: Path, upstream_url: str, settings: Mapping[str, object] | None = None
    ) -> None:
        port, admin_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.admin_url = f"http://127.0.0.1:{admin_port}"
        self.log = folder / "sluicegate.log"
        self.settings_file = folder / "sluicegate.yaml"
        chosen = {
            "lanes.main.url": upstream_url,
            "policies.folder": str(_ROOT / "policies"),
            "listen.port": port,
            "admin.port": admin_port,
            "drain_seconds": 1,
            "engine.poll_seconds": 0.2,
            **(settings or {}),
        }
        self.settings_file.write_text(yaml.safe_dump(_nested(chosen)))
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, str(_PROGRAM), "serve", "--config", str(self.settings_file)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.log.parent,
                env=_variables(),
            )
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._until_it_answers(self._process)
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """SIGTERM, and the time to drain; then the end."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    def client(self, timeout_seconds: float = 120.0) -> openai.AsyncOpenAI:
        """The official client; nothing is changed but its base_url."""
        return openai.AsyncOpenAI(
            base_url=f"{self.url}/v1", api_key="none", timeout=timeout_seconds
        )

    async def ready(self) -> tuple[int, Any]:
        """What /ready says: status and body."""
        async with aiohttp.ClientSession() as http, http.get(f"{self.admin_url}/ready") as told:
            return told.status, await told.json()

    async def lane(self) -> Any:
        """What /ready says of the main lane."""
        return (await self.ready())[1]["lanes"]["main"]

    async def record(self, request_id: str) -> Any:
        """What became of a request; it is recorded a moment after its last byte has left."""
        url = f"{self.admin_url}/sluicegate/requests/{request_id}"
        async with asyncio.timeout(_RECORD_SECONDS), aiohttp.ClientSession() as http:
            while True:
                async with http.get(url) as found:
                    if found.status != 404:
                        return await found.json()
                await asyncio.sleep(_PAUSE_SECONDS)

    async def metrics(self) -> Mapping[str, float]:
        """All samples of the metrics page, by their spelling there."""
        async with aiohttp.ClientSession() as http, http.get(f"{self.admin_url}/metrics") as page:
            lines = (await page.text()).splitlines()
        samples = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        return {name: float(value) for name, value in samples}

    async def command(self, *arguments: str) -> str:
        """Run another command of the program with these settings; its standard output."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(_PROGRAM), *arguments, "--config", str(self.settings_file)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.log.parent,
            env=_variables(),
        )
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        return out.decode()

    def log_lines(self) -> list[Any]:
        """The records that were written so far, one for each request."""
        lines = self.log.read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    async def _until_it_answers(self, process: asyncio.subprocess.Process) -> None:
        async with aiohttp.ClientSession() as http:
            while process.returncode is None:
                try:
                    async with http.get(f"{self.admin_url}/health"):
                        return
                except aiohttp.ClientError:
                    await asyncio.sleep(_PAUSE_SECONDS)
        raise AssertionError(f"sluicegate serve ended:\n{self.log.read_text()}")


def _nested(dotted: Mapping[str, object]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in dotted.items():
        *sections, key = name.split(".")
        section = nested
        for step in sections:
            section = section.setdefault(step, {})
        section[key] = value
    return nested


def _variables() -> dict[str, str]:
    """Ours, without settings of a Sluicegate that may run here; this source, none installed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLUICEGATE_")}
    return {**kept, "PYTHONPATH": str(_ROOT)}
