"""The contenders: how each is started, watched and stopped.

A new one is a function that returns a `Launch` and a line in `PEERS`.
"""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

HERE = Path(__file__).resolve().parent
START_SECONDS = 60.0
STOP_SECONDS = 10.0
SCRAPE_SECONDS = 5.0


class DidNotStart(Exception):
    """A contender ended, or did not get healthy in time; the message carries its last words."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What to start. No command: nothing is started and `url` is there already."""

    url: str
    command: tuple[str, ...] = ()
    health_url: str = ""
    metrics_url: str = ""


@dataclass(frozen=True, slots=True)
class Peer:
    """One contender. `modules` are those whose import makes up most of its start."""

    name: str
    launch: Callable[[str, Path], Launch]
    modules: tuple[str, ...] = ()
    strict: bool = False


@dataclass(slots=True)
class Scrapes:
    """How often a metrics page was read, and how often that failed."""

    done: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Running:
    """A started contender. `start_seconds` runs from spawn to the first healthy answer."""

    url: str
    group: int | None = None
    start_seconds: float | None = None
    scrapes: Scrapes = field(default_factory=Scrapes)


def direct(upstream: str, folder: Path) -> Launch:  # noqa: ARG001 -- every peer is launched alike
    return Launch(url=upstream)


def relay(upstream: str, folder: Path) -> Launch:  # noqa: ARG001 -- it writes no files
    url = f"http://127.0.0.1:{free_port()}"
    script = str(HERE / "relay.py")
    port = str(urlsplit(url).port)
    command = (sys.executable, script, "--port", port, "--upstream", upstream)
    return Launch(url=url, command=command, health_url=f"{url}/health")


def sluicegate(upstream: str, folder: Path) -> Launch:
    """The command as a user starts it, with the production policy of this repository."""
    beside_python = Path(sys.executable).with_name("sluicegate")
    program = str(beside_python) if beside_python.exists() else shutil.which("sluicegate")
    if program is None:
        raise DidNotStart("the command `sluicegate` is not installed")
    return configured((program, "serve"), upstream, folder)


def configured(command: Sequence[str], upstream: str, folder: Path) -> Launch:
    """A command that runs the proxy and takes its settings by `--config`."""
    port, admin_port = free_port(), free_port()
    settings = {
        "listen": {"host": "127.0.0.1", "port": port},
        "admin": {"host": "127.0.0.1", "port": admin_port},
        "lanes": {"main": {"url": upstream}},
        "policies": {"folder": str(HERE.parent / "policies"), "order": ["production"]},
        "admission": {"concurrent": 256, "queue": 1024, "wait_seconds": 30},
    }
    file = folder / f"sluicegate-{port}.yaml"
    file.write_text(json.dumps(settings))  # JSON is YAML too
    admin = f"http://127.0.0.1:{admin_port}"
    return Launch(
        url=f"http://127.0.0.1:{port}",
        command=(*command, "--config", str(file)),
        health_url=f"{admin}/health",
        metrics_url=f"{admin}/metrics",
    )


PEERS = (
    Peer("direct", direct),
    Peer("relay", relay, modules=("aiohttp", "uvicorn", "uvloop", "httptools")),
    Peer("pass", sluicegate, modules=("proxy.cli", "proxy.app")),
    Peer("strict", sluicegate, modules=("proxy.cli", "proxy.app"), strict=True),
)


@contextmanager
def started(peer: Peer, upstream: str, folder: Path) -> Iterator[Running]:
    """Run a contender for the time of the block. Raises `DidNotStart`."""
    launch = peer.launch(upstream, folder)
    if not launch.command:
        yield Running(launch.url)
        return
    log = folder / f"{peer.name}.log"
    began = time.monotonic()
    with child(launch.command, log, folder) as process:
        _wait_until_healthy(process, launch, log)
        start_seconds = time.monotonic() - began
        with _scraped(launch.metrics_url) as scrapes:
            yield Running(launch.url, process.pid, start_seconds, scrapes)


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


@contextmanager
def child(
    command: Sequence[str], log: Path | None, folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own, ended with all its children when the block ends.

    Without a log its stdout is a pipe.
    """
    output = log.open("wb") if log else subprocess.PIPE
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if log else None,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        _end(process)
        for stream in (process.stdout, None if isinstance(output, int) else output):
            if stream is not None:
                stream.close()


def resident_mib(group: int | None) -> float | None:
    """Resident memory of a process group, None where there is no /proc."""
    if group is None or not Path("/proc/self/stat").exists():
        return None
    pages = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                pages += int(fields[21])
        except OSError:  # a process that ended meanwhile
            continue
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def import_seconds(modules: Sequence[str]) -> float | None:
    """How long a fresh interpreter takes to import `modules`; None if it cannot."""
    if not modules:
        return None
    code = (
        "import time; began = time.perf_counter()\n"
        f"try: import {', '.join(modules)}\n"
        "except ImportError: raise SystemExit(1)\n"
        "print(time.perf_counter() - began)"
    )
    with child((sys.executable, "-W", "ignore", "-c", code), None, HERE) as process:
        output, _ = process.communicate()
    return float(output) if process.returncode == 0 else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _get_status(url: str) -> int | None:
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.netloc, timeout=5)
    try:
        connection.request("GET", address.path)
        reply = connection.getresponse()
        reply.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return reply.status


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
    while not (_get_status(launch.health_url) == 200 and _accepts(launch.url)):
        if process.poll() is not None or time.monotonic() > deadline:
            last_words = log.read_text(errors="replace").strip().splitlines()[-1:]
            raise DidNotStart(last_words[0] if last_words else "no output")
        time.sleep(0.005)


@contextmanager
def _scraped(metrics_url: str) -> Iterator[Scrapes]:
    """Read a metrics page every five seconds, as Prometheus does in production."""
    scrapes = Scrapes()
    over = threading.Event()

    def scrape() -> None:
        while not over.is_set():
            if _get_status(metrics_url) == 200:
                scrapes.done += 1
            else:
                scrapes.failed += 1
            over.wait(SCRAPE_SECONDS)

    if not metrics_url:
        yield scrapes
        return
    thread = threading.Thread(target=scrape, daemon=True)
    thread.start()
    try:
        yield scrapes
    finally:
        over.set()
        thread.join()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the group to end; kill what is left of it when its leader has gone or will not."""
    for ending in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, ending)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
