"""A real Prometheus that a test starts, asks, and stops."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import aiohttp
import yaml

from tests.engines.server import free_port

_START_SECONDS: Final = 20.0
_STOP_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = 0.1

Series = tuple[dict[str, str], float]


class Prometheus:
    """`async with Prometheus(program, folder, targets) as prometheus`; scrapes once a second.

    `targets`: a job's name and the address that it is scraped at. It keeps exemplars.
    """

    def __init__(self, program: str, folder: Path, targets: Mapping[str, str]) -> None:
        self._address = f"127.0.0.1:{free_port()}"
        self._folder = folder
        self._program = program
        self._process: asyncio.subprocess.Process | None = None
        jobs = [
            {"job_name": job, "static_configs": [{"targets": [target]}]}
            for job, target in targets.items()
        ]
        (folder / "prometheus.yaml").write_text(
            yaml.safe_dump({"global": {"scrape_interval": "1s"}, "scrape_configs": jobs})
        )

    async def __aenter__(self) -> Self:
        with (self._folder / "prometheus.log").open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                self._program,
                f"--config.file={self._folder}/prometheus.yaml",
                f"--storage.tsdb.path={self._folder}/data",
                f"--web.listen-address={self._address}",
                "--enable-feature=exemplar-storage",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            async with asyncio.timeout(_START_SECONDS):
                await self._until_it_answers(self._process)
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stop()

    async def ask(self, http: aiohttp.ClientSession, expression: str) -> list[Series]:
        """The labels and values of an instant query. Fails where Prometheus refuses it."""
        data = await self._data(http, "query", query=expression)
        return [(one["metric"], float(one["value"][1])) for one in data["result"]]

    async def exemplars(self, http: aiohttp.ClientSession, series: str) -> Any:
        """The exemplars of series, once there are any: scrapes come when they come."""
        wanted = {"query": series, "start": "0", "end": "99999999999"}
        async with asyncio.timeout(_START_SECONDS):
            while True:
                if found := await self._data(http, "query_exemplars", **wanted):
                    return found
                await asyncio.sleep(_PAUSE_SECONDS)

    async def until(
        self, http: aiohttp.ClientSession, expression: str, seconds: float = 30.0
    ) -> None:
        """Wait until a query has a result; fails after `seconds`."""
        async with asyncio.timeout(seconds):
            while not await self.ask(http, expression):  # noqa: ASYNC110 - another process sets no event
                await asyncio.sleep(_PAUSE_SECONDS)

    async def _data(self, http: aiohttp.ClientSession, path: str, **parameters: str) -> Any:
        url = f"http://{self._address}/api/v1/{path}"
        async with http.post(url, data=parameters) as response:
            answer: Any = json.loads(await response.read())
        assert answer["status"] == "success", (parameters, answer)
        return answer["data"]

    async def _until_it_answers(self, process: asyncio.subprocess.Process) -> None:
        async with aiohttp.ClientSession() as http:
            while process.returncode is None:
                try:
                    async with http.get(f"http://{self._address}/-/ready") as response:
                        if response.status == 200:
                            return
                except aiohttp.ClientError:
                    pass
                await asyncio.sleep(_PAUSE_SECONDS)
        raise AssertionError((self._folder / "prometheus.log").read_text())

    async def _stop(self) -> None:
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
