"""The proxy as the demo serves it: the production policy, on loopback, before one upstream."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, TextIO

from proxy.app import LaneWrap, Surroundings, open_app
from proxy.data_files import policies_folder
from proxy.demo.run import RunningProxy, run_demo
from proxy.lane_settings import Lane
from proxy.server import bound, serve
from proxy.settings import Admin, Listen, Policies, Settings

_HOST: Final = "127.0.0.1"
_DRAIN_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class ProductionProxy:
    """Starts the proxy on two bound sockets, the client's and the admin's."""

    sockets: tuple[socket.socket, socket.socket]
    log: TextIO

    @asynccontextmanager
    async def __call__(self, upstream_url: str, wrap: LaneWrap) -> AsyncIterator[RunningProxy]:
        port, admin_port = (opened.getsockname()[1] for opened in self.sockets)
        settings = Settings(
            listen=Listen(host=_HOST, port=port),
            admin=Admin(host=_HOST, port=admin_port),
            lanes={"main": Lane(url=upstream_url)},
            policies=Policies(folder=policies_folder()),
            drain_seconds=_DRAIN_SECONDS,
        )
        async with open_app(settings, Surroundings(log=self.log, wrap_lane=wrap)) as app:
            stop, serving = asyncio.Event(), asyncio.Event()
            task = asyncio.create_task(
                serve(app, self.sockets, on_ready=serving.set, stop=stop),
            )
            # Whoever waits for one of them must also hear of a server that failed.
            task.add_done_callback(lambda _: serving.set())
            task.add_done_callback(lambda _: stop.set())
            try:
                await serving.wait()
                yield RunningProxy(
                    f"http://{_HOST}:{port}/v1", f"http://{_HOST}:{admin_port}", stop.wait
                )
            finally:
                stop.set()
                await task


async def demo(
    out: TextIO,
    *,
    port: int = 8800,
    admin_port: int = 8801,
    upstream_url: str = "",
    once: bool = False,
) -> None:
    """Run the whole demo until Ctrl-C, or for one tour (`once`). Port 0 is any free port.

    Raises `SettingsError` for a port that is taken, before anything is started, and what
    `run_demo` raises. Request log lines would tear the printed text apart and are dropped.
    """
    with (
        bound(_HOST, port, _HOST, admin_port) as sockets,
        open(os.devnull, "w", encoding="utf-8") as nowhere,  # noqa: ASYNC230, PTH123 - no disk
    ):
        await run_demo(ProductionProxy(sockets, nowhere), out, upstream_url, once=once)
