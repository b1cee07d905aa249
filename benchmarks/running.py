"""Starts contenders and the fake upstream, waits until they are healthy, reads their metrics."""

import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from installation import NotInstalled
from peers import Launch, Peer
from processes import HERE, Family, child
from scraping import Scrapes, scraped
from tally import NOTHING, Figures

START_SECONDS = 180.0
SCRAPE_SECONDS = 5.0


class DidNotStart(Exception):
    """A contender ended, or did not get healthy in time; the message carries its last words."""


@dataclass(frozen=True, slots=True)
class Running:
    """A started contender. `start_seconds` runs from spawn to the first healthy answer."""

    url: str
    headers: tuple[str, ...] = ()
    family: Family | None = None
    start_seconds: float | None = None
    scrapes: Scrapes = field(default_factory=Scrapes)


@dataclass(frozen=True, slots=True)
class Imported:
    """What a fresh interpreter needed to import a contender's modules."""

    seconds: float
    litellm_modules: int


@contextmanager
def started(peer: Peer, upstream: str, folder: Path) -> Iterator[Running]:
    """Run a contender for the time of the block. Raises `DidNotStart`, `NotInstalled`."""
    with launched(peer.launch(upstream, folder), folder, peer.name) as running:
        yield running


@contextmanager
def launched(launch: Launch, folder: Path, name: str) -> Iterator[Running]:
    """The same of a launch."""
    if not launch.command:
        yield Running(launch.url)
        return
    log = folder / f"{name}.log"
    began = time.monotonic()
    with child(launch.command, log, folder, launch.environment) as process:
        _wait_until_healthy(process, launch, log)
        start_seconds = time.monotonic() - began
        with scraped(launch.metrics_url, SCRAPE_SECONDS) as scrapes:
            family = Family(process.pid)
            yield Running(launch.url, launch.headers, family, start_seconds, scrapes)


@contextmanager
def fake_upstream() -> Iterator[str]:
    """Run the fake upstream for the time of the block; yields its address."""
    command = (sys.executable, str(HERE / "fake_upstream.py"), "--port", "0")
    with child(command, None, HERE) as process:
        assert process.stdout is not None  # noqa: S101 -- for the type checker
        address = process.stdout.readline().decode().strip()
        if not address:
            raise DidNotStart("the fake upstream ended at once")
        yield address


def loaded(url: str, kind: str, *options: str) -> Figures:
    """Put a load on an address and wait for its figures; see load.py for the options."""
    with child(load_command(url, kind, *options), None, HERE) as process:
        return figures_of(process)


def load_command(url: str, kind: str, *options: str) -> list[str]:
    return [sys.executable, str(HERE / "load.py"), "--url", url, "--kind", kind, *options]


def figures_of(process: subprocess.Popen[bytes]) -> Figures:
    output, _ = process.communicate()
    return NOTHING if process.returncode else Figures(**json.loads(output))


def imported(python: Path, modules: Sequence[str]) -> Imported | None:
    """None where there is nothing to import, or it cannot be."""
    if not modules:
        return None
    code = (
        "import sys, time; began = time.perf_counter()\n"
        f"try: import {', '.join(modules)}\n"
        "except ImportError: raise SystemExit(1)\n"
        "print(time.perf_counter() - began)\n"
        "print(sum(name.partition('.')[0] == 'litellm' for name in sys.modules))"
    )
    environment = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    command = (str(python), "-P", "-W", "ignore", "-c", code)
    with child(command, None, HERE, environment) as process:
        output, _ = process.communicate()
    if process.returncode:
        return None
    seconds, count = output.split()[-2:]
    return Imported(float(seconds), int(count))


def import_of(peer: Peer) -> Imported | None:
    """The same of a contender."""
    try:
        return imported(peer.python(), peer.modules)
    except NotInstalled:
        return None


def get(url: str) -> tuple[int, bytes] | None:
    """Status and body, None when nobody answers."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.netloc, timeout=5)
    try:
        connection.request("GET", address.path)
        reply = connection.getresponse()
        return reply.status, reply.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def _is_healthy(url: str) -> bool:
    answer = get(url)
    return answer is not None and answer[0] == http.client.OK


def _accepts(url: str) -> bool:
    address = urlsplit(url)
    try:
        socket.create_connection((address.hostname, address.port or 80), timeout=5).close()
    except OSError:
        return False
    return True


def _wait_until_healthy(process: subprocess.Popen[bytes], launch: Launch, log: Path) -> None:
    """Health may have a listener of its own, so the one under load must accept, too."""
    deadline = time.monotonic() + START_SECONDS
    while not (_is_healthy(launch.health_url) and _accepts(launch.url)):
        if process.poll() is not None or time.monotonic() > deadline:
            last_words = log.read_text(errors="replace").strip().splitlines()[-1:]
            raise DidNotStart(last_words[0] if last_words else "no output")
        time.sleep(0.005)
