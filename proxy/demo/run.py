"""The whole demo: an engine, the proxy before it, the tour, then serve until told to stop."""

import asyncio
import json
import os
import shlex
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import Any, Final, NoReturn, Protocol, TextIO

import aiohttp
import msgspec

from proxy.demo.engine import (
    EngineDied,
    Progress,
    Stage,
    embedded_child,
    find_model,
    running_engine,
)
from proxy.demo.fault import FaultyLane
from proxy.demo.race import first_of
from proxy.demo.screen import Screen, wants_colour
from proxy.demo.tour import tour
from proxy.errors import SluicegateError
from proxy.upstream.lane import Lane

_MODELS_SECONDS: Final = 10.0


class UnusableUpstream(SluicegateError):
    """The reader's own server does not say which model it serves."""


@dataclass(frozen=True, slots=True)
class RunningProxy:
    """A proxy that serves. `base_url` ends in /v1; `stopped` returns once it was told to end."""

    base_url: str
    admin_url: str
    stopped: Callable[[], Awaitable[object]]


class StartProxy(Protocol):
    """Serves the production policy before one upstream; its lane goes through `wrap` first."""

    def __call__(
        self, upstream_url: str, wrap: Callable[[Lane], Lane]
    ) -> AbstractAsyncContextManager[RunningProxy]: ...


@dataclass(frozen=True, slots=True)
class _Upstream:
    url: str
    model: str
    embedded: bool
    ended: Callable[[], Coroutine[Any, Any, object]]


async def run_demo(
    start_proxy: StartProxy, out: TextIO, upstream_url: str = "", *, once: bool = False
) -> None:
    """Run until cancelled, until the proxy or the embedded engine ends, or for one tour (`once`).

    Without `upstream_url` the embedded engine is started. Raises the typed errors of both sides;
    whatever happens, nothing that was started stays behind.
    """
    screen = Screen(out, coloured=wants_colour(out, os.environ))
    async with AsyncExitStack() as stack:
        upstream = (
            await _own_upstream(upstream_url, screen)
            if upstream_url
            else await _embedded_upstream(stack, screen)
        )
        proxy = await stack.enter_async_context(start_proxy(upstream.url, FaultyLane))
        await first_of(
            _show(proxy, upstream, out, screen, once=once), _stopped(proxy), upstream.ended()
        )


async def _embedded_upstream(stack: AsyncExitStack, screen: Screen) -> _Upstream:
    child = embedded_child(find_model())
    screen.plain(f"Starting the embedded model {child.model} on this machine's processor.")
    engine = await stack.enter_async_context(running_engine(child, _progress(screen)))

    async def ended() -> NoReturn:
        status = await engine.ended()
        raise EngineDied(f"The embedded engine ended by itself, with status {status}.")

    return _Upstream(engine.url, engine.model, embedded=True, ended=ended)


async def _own_upstream(address: str, screen: Screen) -> _Upstream:
    url = address.rstrip("/").removesuffix("/v1")
    if "://" not in url:
        url = f"http://{url}"
    model = await served_model(url)
    screen.plain(f"{url} serves {model}.")
    return _Upstream(url, model, embedded=False, ended=asyncio.Event().wait)


class _Model(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Model]


async def served_model(url: str) -> str:
    """The first model that a server lists. Raises `UnusableUpstream`."""
    timeout = aiohttp.ClientTimeout(total=_MODELS_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(f"{url}/v1/models") as response,
        ):
            response.raise_for_status()
            models = msgspec.json.decode(await response.read(), type=_Models)
            return models.data[0].id
    except (aiohttp.ClientError, TimeoutError, msgspec.MsgspecError, IndexError) as error:
        reason = str(error) or f"no answer within {_MODELS_SECONDS:g} s"
        raise UnusableUpstream(f"{url}/v1/models names no model: {reason}") from error


async def _show(
    proxy: RunningProxy, upstream: _Upstream, out: TextIO, screen: Screen, *, once: bool
) -> None:
    await tour(proxy.base_url, proxy.admin_url, upstream.model, out, upstream.embedded)
    if once:
        return
    body = {"model": upstream.model, "messages": [{"role": "user", "content": "Hello"}]}
    curl = (
        f"curl -s {proxy.base_url}/chat/completions -H 'content-type: application/json' "
        f"-d {shlex.quote(json.dumps(body))}"
    )
    screen.title("Serving. Ctrl-C ends it and leaves nothing behind.")
    screen.line("base_url", proxy.base_url)
    screen.line("metrics", f"{proxy.admin_url}/metrics")
    screen.line("health", f"{proxy.admin_url}/health")
    screen.line("ready", f"{proxy.admin_url}/ready")
    screen.line("look-up", f"{proxy.admin_url}/sluicegate/requests/" + "{x-request-id}")
    screen.line("try", curl)
    await asyncio.Event().wait()


async def _stopped(proxy: RunningProxy) -> None:
    await proxy.stopped()


def _progress(screen: Screen) -> Progress:
    def tell(stage: Stage, seconds: float) -> None:
        screen.line(stage, f"{seconds:.1f} s")

    return tell
