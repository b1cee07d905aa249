"""One structured line per request, written by a thread so that a slow reader stops no reply."""

import threading
from collections.abc import Callable
from queue import Empty, Full, Queue
from typing import Final, TextIO

import msgspec

from proxy.telemetry.record import RequestRecord

_FLUSH_SECONDS: Final = 0.2
_LINES: Final = 10_000


class RequestLog:
    """Writes records as JSON lines. Lines beyond the bound are dropped and counted."""

    def __init__(self, out: TextIO, on_drop: Callable[[], None] | None = None) -> None:
        self._out = out
        self._on_drop = on_drop
        self._queue: Queue[RequestRecord] = Queue(_LINES)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._write, name="request-log", daemon=True)
        self._thread.start()

    def add(self, record: RequestRecord) -> None:
        try:
            self._queue.put_nowait(record)
        except Full:
            if self._on_drop is not None:
                self._on_drop()

    def close(self) -> None:
        """Write what is queued and stop; waits at most two seconds for a stuck reader."""
        self._closing.set()
        self._thread.join(timeout=2)

    def _write(self) -> None:
        while not self._closing.wait(_FLUSH_SECONDS):
            self._drain()
        self._drain()

    def _drain(self) -> None:
        lines: list[str] = []
        try:
            while True:
                lines.append(line_of(self._queue.get_nowait()))
        except Empty:
            pass
        if lines:
            self._out.write("".join(lines))
            self._out.flush()


def line_of(record: RequestRecord) -> str:
    """One JSON line; members that say nothing are left out."""
    members = {"event": "request"} | {
        name: value
        for name, value in msgspec.to_builtins(record).items()
        if value not in (None, (), [], "")
    }
    return msgspec.json.encode(members).decode() + "\n"
