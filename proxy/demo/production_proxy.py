"""The proxy as the demo serves it: the production policy, on loopback, before one upstream."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, TextIO

from proxy.app import MAIN, LaneWrap, Surroundings, open_app
from proxy.data_files import policies_folder
from proxy.demo.run import RunningProxy
from proxy.ledger_settings import Ledger
from proxy.server import serve
from proxy.settings import Admin, Lane, Listen, Policies, Settings

_HOST: Final = "127.0.0.1"
_DRAIN_SECONDS: Final = 2.0

LaneAt = Callable[[str], Lane]


def demo_settings(port: int, admin_port: int) -> Settings:
    """The shipped production policy on loopback; no lane yet, and no file or variable is read."""
    return Settings(
        listen=Listen(host=_HOST, port=port),
        admin=Admin(host=_HOST, port=admin_port),
        policies=Policies(folder=policies_folder()),
        ledger=Ledger(url=None),
        drain_seconds=_DRAIN_SECONDS,
    )


def _lane_at(url: str) -> Lane:
    return Lane(url=url)


@dataclass(frozen=True, slots=True)
class ProductionProxy:
    """Starts the proxy on two bound sockets, the client's and the admin's.

    `lane` makes the settings of the main lane from its address.
    """

    settings: Settings
    sockets: tuple[socket.socket, socket.socket]
    log: TextIO
    lane: LaneAt = _lane_at

    @asynccontextmanager
    async def __call__(self, upstream_url: str, wrap: LaneWrap) -> AsyncIterator[RunningProxy]:
        lanes = {MAIN: self.lane(upstream_url)}
        settings = self.settings.model_copy(update={"lanes": lanes})
        around = Surroundings(log=self.log, wrap_lane=wrap)
        stop, serving = asyncio.Event(), asyncio.Event()
        async with open_app(settings, around) as app:
            task = asyncio.create_task(serve(app, self.sockets, on_ready=serving.set, stop=stop))
            # Whoever waits for one of them must also hear of a server that failed.
            task.add_done_callback(lambda _: serving.set())
            task.add_done_callback(lambda _: stop.set())
            try:
                await serving.wait()
                yield RunningProxy(self._base(0) + "/v1", self._base(1), stop.wait)
            finally:
                stop.set()
                await task

    def _base(self, index: int) -> str:
        return f"http://{_HOST}:{self.sockets[index].getsockname()[1]}"
