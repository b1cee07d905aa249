"""The command `demo --imitate`: imitation, proxy and load, and a Prometheus where it is wanted."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TextIO

from proxy.contract.probe_settings import ProbeSettings
from proxy.data_files import grafana_folder
from proxy.demo.imitation.server import Imitation, ImitationOptions, running_imitation
from proxy.demo.load.load import LoadOptions, run_load
from proxy.demo.observe.pointers import grafana_lines, prometheus_lines
from proxy.demo.observe.prometheus import (
    INSTALL,
    Prometheus,
    Which,
    find_prometheus,
    running_prometheus,
)
from proxy.demo.observe.scrape_config import Targets, scrape_config
from proxy.demo.production_proxy import ProductionProxy, demo_settings
from proxy.demo.race import first_of
from proxy.demo.run import RunningProxy
from proxy.demo.screen import Colour, Screen, wants_colour
from proxy.ledger_settings import Ledger
from proxy.server import bind, bound, fast_runner
from proxy.settings import Admission, Lane, Limits, Policies, Settings

_REQUEST_BYTES: Final = 512 * 1024
# Two more than the engine's sequences, so that requests wait in the engine as well as before it.
_CONCURRENT: Final = 6
_QUEUE: Final = 10
_IDLE_SECONDS: Final = 8.0
# Less than the engine is away at a restart: some requests wait it out, and some in vain.
_READY_WAIT_SECONDS: Final = 4.0
# One answer decides: after a bad one the engine is served cold, and clients see the cold retry.
_PROBE_ATTEMPTS: Final = 1
_CONTRADICTS: Final = "it is no such engine, and the proxy says at every start what contradicts it"


@dataclass(frozen=True, slots=True)
class ImitateOptions:
    """What `demo --imitate` was asked for. `rate` 0: no load. `probe`: of every engine start.

    `prometheus_port` None: no Prometheus; `ledger` None: one that goes away with the demo.
    """

    imitation: ImitationOptions
    port: int
    admin_port: int
    rate: float
    probe: bool = False
    prometheus_port: int | None = None
    ledger: Path | None = None


def imitate(options: ImitateOptions) -> int:
    """Run until Ctrl-C; the exit code. Raises `SluicegateError`: a taken port, a broken file."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, fast_runner() as runner:
        runner.run(show_imitation(options, sys.stdout, nowhere))
    sys.stdout.write("\nStopped.\n")
    return 0


async def show_imitation(
    options: ImitateOptions, out: TextIO, log: TextIO, *, which: Which = shutil.which
) -> None:
    """The same inside a running loop, until cancelled or until one of the parts ends."""
    screen = Screen(out, coloured=wants_colour(out, os.environ))
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sluicegate-demo-")))
        settings = imitation_settings(options, folder)
        sockets = stack.enter_context(bound(settings))
        if options.prometheus_port:
            # It would say so itself, but later and with less.
            bind("127.0.0.1", options.prometheus_port, "--prometheus-port").close()
        _introduce(screen, options)
        imitation = await stack.enter_async_context(running_imitation(options.imitation))
        stack.enter_context(_restarts_on_hangup(imitation))
        lane = partial(imitation_lane, options)
        start = ProductionProxy(settings, sockets, log, lane)
        proxy = await stack.enter_async_context(start(imitation.url, lambda lane: lane))
        _tell_addresses(screen, imitation, proxy)
        prometheus = await _prometheus(stack, screen, options, (imitation, proxy), which)
        works: list[Coroutine[Any, Any, object]] = [_stopped(proxy), imitation.ended()]
        if options.rate:
            works.append(run_load(proxy, _load(options), _teller(screen)))
        if prometheus is not None:
            works.append(prometheus.ended())
        screen.title("Running. Ctrl-C ends everything and leaves nothing behind.")
        await first_of(*works)


def imitation_settings(options: ImitateOptions, folder: Path) -> Settings:
    """The demo's settings, tightened so that limits, queues and timeouts are seen at work."""
    ledger = (options.ledger or folder / "ledger.db").resolve()
    policies = demo_settings(0, 0).policies.folder
    order = ("editorial-de", "production")
    return demo_settings(options.port, options.admin_port).model_copy(
        update={
            "policies": Policies(folder=policies, order=order, by_header=order[:1]),
            "ledger": Ledger(url=f"sqlite:///{ledger}"),
            "admission": Admission(concurrent=_CONCURRENT, queue=_QUEUE),
            "limits": Limits(request_bytes=_REQUEST_BYTES, idle_seconds=_IDLE_SECONDS),
        }
    )


def imitation_lane(options: ImitateOptions, url: str) -> Lane:
    """The lane before the imitation: its variant's recipe, a short wait, a probe if wanted."""
    return Lane(
        url=url,
        recipe=options.imitation.variant.recipe,
        ready_wait_seconds=_READY_WAIT_SECONDS / options.imitation.speed,
        probe=ProbeSettings(attempts=_PROBE_ATTEMPTS) if options.probe else None,
    )


async def _stopped(proxy: RunningProxy) -> None:
    await proxy.stopped()


def _load(options: ImitateOptions) -> LoadOptions:
    wanted = options.imitation
    return LoadOptions(wanted.variant.model, options.rate, wanted.seed, wanted.speed)


def _teller(screen: Screen) -> Callable[[str], None]:
    return lambda line: screen.line(time.strftime("%H:%M:%S"), line)


async def _prometheus(
    stack: AsyncExitStack,
    screen: Screen,
    options: ImitateOptions,
    parts: tuple[Imitation, RunningProxy],
    which: Which,
) -> Prometheus | None:
    """A Prometheus that scrapes both; None where none is wanted or installed."""
    if options.prometheus_port is None:
        return None
    command = find_prometheus(which)
    if command is None:
        screen.plain(INSTALL)
        return None
    imitation, proxy = parts
    targets = Targets(_address(proxy.admin_url), _address(imitation.url))
    config = scrape_config(targets, grafana_folder())
    running = running_prometheus(command, config, options.prometheus_port)
    prometheus = await stack.enter_async_context(running)
    screen.title("Prometheus scrapes the proxy and the imitation")
    _lines(screen, prometheus_lines(prometheus.url))
    screen.title("A Grafana of your own")
    _lines(screen, grafana_lines(prometheus.url, grafana_folder()))
    return prometheus


def _introduce(screen: Screen, options: ImitateOptions) -> None:
    """Say at once that no model answers, which numbers it keeps to, and what is made up."""
    wanted = options.imitation
    screen.title(f"{wanted.variant.model}: an imitation, no model; nothing here measures anything")
    for number in wanted.variant.numbers():
        screen.line(
            "assumed" if number.assumed else "article", str(number), _colour(number.assumed)
        )
    screen.line("faults", f"{wanted.rates.text or 'none'} (all made up)")
    if wanted.speed != 1:
        screen.line("speed", f"every time is divided by {wanted.speed:g}", Colour.NOTE)
    screen.line("recipe", f"{wanted.variant.recipe.name}; {_CONTRADICTS}", Colour.NOTE)


def _tell_addresses(screen: Screen, imitation: Imitation, proxy: RunningProxy) -> None:
    screen.title("Addresses")
    screen.line("base_url", proxy.base_url)
    screen.line("metrics", f"{proxy.admin_url}/metrics")
    screen.line("imitation", f"{imitation.url}/metrics")
    screen.line("restart", f"kill -HUP {os.getpid()} restarts its engine")


def _colour(assumed: bool) -> Colour | None:
    return Colour.NOTE if assumed else None


def _lines(screen: Screen, lines: Iterable[tuple[str, str]]) -> None:
    for label, text in lines:
        screen.line(label, text)


def _address(url: str) -> str:
    return url.removeprefix("http://")


@contextmanager
def _restarts_on_hangup(imitation: Imitation) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, imitation.restart)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGHUP)
