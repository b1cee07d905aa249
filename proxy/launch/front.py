"""The proxy before the engine that is launched, in the same process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from proxy.app import Surroundings, open_app
from proxy.launch.stop_signal import StopSignal
from proxy.server import bound, serve
from proxy.settings import Settings


@dataclass(frozen=True, slots=True)
class Front:
    """A proxy that serves. `base_url` ends in /v1."""

    base_url: str
    admin_url: str
    task: asyncio.Task[None]
    stopping: asyncio.Event
    stop: StopSignal

    async def drain(self) -> None:
        """Let running requests finish; cut them off where the user is in a hurry."""
        self.stopping.set()
        hurried = asyncio.create_task(self.stop.hurried.wait())
        try:
            await asyncio.wait({self.task, hurried}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            hurried.cancel()
        if self.stop.hurried.is_set():
            self.task.cancel()
        await asyncio.wait({self.task})


@asynccontextmanager
async def serving(
    settings: Settings, stop: StopSignal, around: Surroundings | None = None
) -> AsyncIterator[Front]:
    """Serve until the block ends. A proxy that fails asks for the stop of all; its error is raised.

    Raises `ConfigError` for a taken port, and for wrong policies and keys.
    """
    with bound(settings) as sockets:
        async with open_app(settings, around or Surroundings()) as app:
            ready, stopping = asyncio.Event(), asyncio.Event()
            serving_app = serve(
                app, sockets, on_ready=ready.set, stop=stopping, hears_signals=False
            )
            task = asyncio.create_task(serving_app)
            # Whoever waits for one of them must also hear of a server that failed.
            task.add_done_callback(lambda _: ready.set())
            task.add_done_callback(lambda _: stop.asked.set())
            await ready.wait()
            base, admin = (_url(each.getsockname()) for each in sockets)
            front = Front(f"{base}/v1", admin, task, stopping, stop)
            try:
                yield front
            finally:
                await front.drain()
            if not task.cancelled():
                task.result()


def _url(address: tuple[str, int]) -> str:
    host, port = address[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
