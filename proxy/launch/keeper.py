"""Starts the engine and outlives the launcher: `python -P -m proxy.launch.keeper`.

Nobody cleans up after a launcher that is killed, and an engine that loses its first process leaves
the others running. So the engine is the keeper's child, and the keeper's standard input a pipe
whose other end only the launcher holds. Down it come one JSON line with the order, then a line
`terminate` for a clean stop; its end is the end of every process of the engine, at once. Up the
standard output come two JSON lines: that the engine runs, and that all of it is gone. The engine
writes to the keeper's standard error.

Runs with the launcher's environment, never the recipe's: that is the engine's alone.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from proxy.launch.session import end_session

_TERMINATE: Final = b"terminate\n"
_PR_SET_CHILD_SUBREAPER: Final = 36
_PIPE_BYTES: Final = 65536


class Order(msgspec.Struct, frozen=True):
    """What to start: a program by its path, its arguments, and its whole environment."""

    arguments: tuple[str, ...]
    environment: dict[str, str]


class Started(msgspec.Struct, frozen=True, tag="started"):
    """The engine's first process, whose number is also that of its session."""

    pid: int


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The program could not be started."""

    reason: str


class Ended(msgspec.Struct, frozen=True, tag="ended"):
    """The first process has ended, and no other is left. Negative: killed by that signal."""

    status: int


Report = Started | Failed | Ended


def main() -> None:
    """Keep one engine."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A handler of our own, since a signal that is ignored would stay so in the engine.
        signal.signal(number, lambda *_: None)
    if sys.platform == "linux":
        # Orphans of the engine become the keeper's children, and can be waited for.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=Order)
    try:
        engine = _start(order)
    except (OSError, ValueError) as error:
        _report(Failed(str(error)))
        return
    _report(Started(engine.pid))
    status = _keep(engine)
    end_session(engine.pid)
    _end_escaped()
    _report(Ended(status))


def _start(order: Order) -> subprocess.Popen[bytes]:
    engine = subprocess.Popen(  # noqa: S603 - the order is the launcher's, no shell reads it
        order.arguments,
        env=order.environment,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno(),
        stderr=sys.stderr.fileno(),
        start_new_session=True,
    )
    # The log ends with the engine: nobody else may hold it open.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stderr.fileno())
    os.close(nowhere)
    return engine


def _keep(engine: subprocess.Popen[bytes]) -> int:
    """Pass on what the launcher wants until the engine's first process has ended."""
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    commands = _commands(sys.stdin.fileno(), ended)
    while (status := engine.poll()) is None:
        command = next(commands)
        if command == _TERMINATE:
            engine.terminate()
        elif command == b"":
            engine.kill()
            status = engine.wait()
            break
    signal.set_wakeup_fd(-1)
    return status


def _commands(stdin: int, woken: int) -> Iterator[bytes | None]:
    """Lines of the launcher, empty at the end; None when something may have ended."""
    held = b""
    while True:
        line, newline, rest = held.partition(b"\n")
        if newline:
            held = rest
            yield line + newline
            continue
        ready, _, _ = select.select([stdin, woken], [], [])
        if woken in ready:
            os.read(woken, _PIPE_BYTES)
            yield None
        elif piece := os.read(stdin, _PIPE_BYTES):
            held += piece
        else:
            yield b""


def _end_escaped() -> None:
    """End what left the engine's session: as orphans they are children of the keeper."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    with suppress(ChildProcessError, FileNotFoundError):
        while True:
            for pid in map(int, children.read_text().split()):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(-1, 0)


def _report(report: Report) -> None:
    """Tell the launcher, if it is still there."""
    with suppress(OSError):
        os.write(sys.stdout.fileno(), msgspec.json.encode(report) + b"\n")


if __name__ == "__main__":
    main()
