"""Runs a built proxy on its two listeners until it is told to stop, and drains it then."""

import asyncio
import gc
import importlib.util
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

import uvicorn
from typing_extensions import override

from proxy import __version__
from proxy.app import MAIN, App, Surroundings, open_app
from proxy.errors import Place, Problem, SettingsError
from proxy.http_protocol import BoundedHeadProtocol
from proxy.settings import Settings, load_settings

_BACKLOG: Final = 2048
# After the last error events were sent, connections get this long to take them.
_CUT_SECONDS: Final = 2
_YOUNG_OBJECTS: Final = 20_000
_SWITCH_SECONDS: Final = 0.0005


class _Listener(uvicorn.Server):
    """A uvicorn server that leaves signals to us, since there are two of them in one process."""

    def __init__(self, asgi: Any) -> None:
        super().__init__(_config(asgi))
        self.ready = asyncio.Event()

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @override
    def capture_signals(self) -> Any:
        return nullcontext()


def bind(host: str, port: int, flag: str) -> socket.socket:
    """Bind a listening socket. A taken port or a foreign address is a `SettingsError`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        problem = Problem(
            Place(f"{host}:{port}"),
            f"cannot listen here: {error.strerror}",
            f"another program uses the port, or the address is not this machine's; change {flag}",
        )
        raise SettingsError([problem]) from error
    # Accepted connections inherit it; asyncio's own loop sets it only on sockets it has made.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def run_serve(file: Path | None, flags: Mapping[str, object], names: Mapping[str, str]) -> None:
    """The command `serve`: settings, proxy, listeners, until a signal. Raises `ConfigError`."""
    settings = load_settings(file, os.environ, flags, names)
    speak_on_stderr()
    with fast_runner() as runner:
        runner.run(_serve(settings, Surroundings()))


def speak_on_stderr() -> None:
    """Show what the program says of itself; the log of requests has stdout for itself."""
    spoken = logging.StreamHandler()
    spoken.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    own = logging.getLogger("proxy")
    own.setLevel(logging.INFO)
    own.addHandler(spoken)


async def _serve(settings: Settings, around: Surroundings) -> None:
    with bound(settings) as sockets:
        async with open_app(settings, around) as app:
            await serve(app, sockets, on_ready=lambda: _announce(app, sockets))


def _announce(app: App, sockets: tuple[socket.socket, socket.socket]) -> None:
    """Say on stderr where the proxy listens; stdout carries the request log."""
    settings, state = app.settings, app.engine.state
    port, admin_port = (listening.getsockname()[1] for listening in sockets)
    lane = settings.lanes[MAIN]
    lines = (
        f"sluicegate {__version__}",
        f"  base_url  http://{settings.listen.host}:{port}/v1",
        f"  admin     http://{settings.admin.host}:{admin_port}/metrics",
        f"  upstream  {lane.url or lane.model} ({state})",
        f"  policies  {', '.join(policy.label for policy in app.policies.policies)}"
        + (" (observed only)" if settings.observe else ""),
        f"  ledger    {settings.ledger.address.shown if settings.ledger.address else 'none'}",
    )
    print("\n".join(lines), file=sys.stderr, flush=True)


@contextmanager
def bound(settings: Settings) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both listening sockets, closed at the end. Raises `SettingsError` for a taken port."""
    listen, admin = settings.listen, settings.admin
    with (
        bind(listen.host, listen.port, "--port") as public_socket,
        bind(admin.host, admin.port, "--admin-port") as admin_socket,
    ):
        yield public_socket, admin_socket


async def serve(
    app: App,
    sockets: tuple[socket.socket, socket.socket],
    *,
    on_ready: Callable[[], None] = lambda: None,
    stop: asyncio.Event | None = None,
    hears_signals: bool = True,
) -> None:
    """Serve until SIGTERM or SIGINT (or `stop`), then drain within `drain_seconds`.

    A second signal ends the drain at once: what still runs gets an error as its end. Where somebody
    else in the process hears signals, cancelling does that.
    """
    stop = stop or asyncio.Event()
    hurry = asyncio.Event()
    public, admin = _Listener(app.public), _Listener(app.admin)
    with _signals(stop, hurry) if hears_signals else nullcontext():
        async with asyncio.TaskGroup() as group:
            group.create_task(public.serve([sockets[0]]))
            group.create_task(admin.serve([sockets[1]]))
            await asyncio.gather(public.ready.wait(), admin.ready.wait())
            _favour_the_loop()
            on_ready()
            await stop.wait()
            await _drain(app, public, hurry)
            admin.should_exit = True


def _favour_the_loop() -> None:
    """Let neither the garbage collector nor a thread pause every stream for long.

    What was loaded is kept out of later collections, and a request leaves some hundred objects and
    no cycles, so that they can be seldom. A thread that computes, as for the ledger or a scrape,
    gives the interpreter back after a tenth of the usual time.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, *gc.get_threshold()[1:])


async def _drain(app: App, public: uvicorn.Server, hurry: asyncio.Event) -> None:
    """Refuse new requests, let running ones finish, then end what is left with an error."""
    app.gateway.draining = True
    running = app.gateway.running
    waits = {asyncio.create_task(running.idle()), asyncio.create_task(hurry.wait())}
    await asyncio.wait(
        waits, timeout=app.settings.drain_seconds, return_when=asyncio.FIRST_COMPLETED
    )
    for wait in waits:
        wait.cancel()
    running.stop_all()
    public.should_exit = True


def _config(asgi: Any) -> uvicorn.Config:
    return uvicorn.Config(
        asgi,
        interface="asgi3",
        loop="none",
        http=BoundedHeadProtocol,
        ws="none",
        proxy_headers=False,
        lifespan="off",
        log_config=None,
        # Below it uvicorn advises whoever runs the program, for instance to install websockets.
        log_level="error",
        access_log=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_CUT_SECONDS,
    )


def fast_runner() -> asyncio.Runner:
    """A runner on uvloop; where it is missing the program runs at half speed and says so."""
    if importlib.util.find_spec("uvloop") is None:
        print("uvloop is not installed: expect half the speed.", file=sys.stderr)
        return asyncio.Runner()
    import uvloop

    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


@contextmanager
def _signals(stop: asyncio.Event, hurry: asyncio.Event) -> Iterator[None]:
    loop = asyncio.get_running_loop()

    def heard() -> None:
        (hurry if stop.is_set() else stop).set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, heard)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
