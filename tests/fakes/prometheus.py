"""A real Prometheus of a test's own, which scrapes one target each second and keeps exemplars."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import yaml

_SECONDS = 20.0


@dataclass(frozen=True)
class Prometheus:
    """Its HTTP API."""

    url: str
    http: aiohttp.ClientSession

    async def ask(self, path: str, **parameters: str) -> Any:
        """The data of an answer; fails with its error when it is none."""
        async with self.http.get(f"{self.url}/api/v1/{path}", params=parameters) as response:
            answer = await response.json()
        assert answer["status"] == "success", answer
        return answer["data"]

    async def until_there(self, path: str, **parameters: str) -> Any:
        """The data once it is not empty: scrapes come when they come."""
        async with asyncio.timeout(_SECONDS):
            while True:
                data = await self.ask(path, **parameters)
                if data["result"] if isinstance(data, dict) else data:
                    return data
                await asyncio.sleep(0.1)


@asynccontextmanager
async def running_prometheus(target_url: str, folder: Path) -> AsyncIterator[Prometheus]:
    """Start it before a target, and stop it with the block."""
    config = folder / "prometheus.yml"
    target = target_url.removeprefix("http://")
    job = {"job_name": "sluicegate", "static_configs": [{"targets": [target]}]}
    config.write_text(
        yaml.safe_dump({"global": {"scrape_interval": "1s"}, "scrape_configs": [job]})
    )
    address = f"127.0.0.1:{_free_port()}"
    process = await asyncio.create_subprocess_exec(
        "prometheus",
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
        "--enable-feature=exemplar-storage",
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with aiohttp.ClientSession() as http:
            await _until_ready(http, f"http://{address}")
            yield Prometheus(f"http://{address}", http)
    finally:
        process.terminate()
        await process.wait()


async def _until_ready(http: aiohttp.ClientSession, url: str) -> None:
    async with asyncio.timeout(_SECONDS):
        while True:
            try:
                async with http.get(f"{url}/-/ready") as response:
                    if response.status == 200:
                        return
            except aiohttp.ClientConnectionError:
                pass
            await asyncio.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
