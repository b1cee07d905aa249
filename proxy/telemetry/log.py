"""One structured line per request, written by a thread so that a slow reader stops no reply."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Final, TextIO

import msgspec

from proxy.telemetry.record import RequestRecord

_FLUSH_SECONDS: Final = 0.2
_LINES: Final = 10_000


class RequestLog:
    """Writes records as JSON lines.

    Lines beyond the bound are dropped and counted, and so are lines that nobody takes any more.
    Lines are made where they arise: a thread that computes would hold up the event loop. One
    thread adds, one takes.
    """

    def __init__(self, out: TextIO, on_drop: Callable[[], None] | None = None) -> None:
        self._out = out
        self._on_drop = on_drop
        self._encode = msgspec.json.Encoder().encode
        self._waiting: deque[bytes] = deque()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._write, name="request-log", daemon=True)
        self._thread.start()

    def add(self, record: RequestRecord) -> None:
        if len(self._waiting) >= _LINES:
            self._drop()
        else:
            self._waiting.append(self._encode(record))

    def close(self) -> None:
        """Write what is queued and stop; waits at most two seconds for a stuck reader."""
        self._closing.set()
        self._thread.join(timeout=2)

    def _write(self) -> None:
        while not self._closing.wait(_FLUSH_SECONDS):
            self._drain()
        self._drain()

    def _drain(self) -> None:
        lines = [self._waiting.popleft() for _ in range(len(self._waiting))]
        if not lines:
            return
        try:
            self._out.write(b"\n".join([*lines, b""]).decode())
            self._out.flush()
        except (OSError, ValueError):  # the reader is gone
            for _ in lines:
                self._drop()

    def _drop(self) -> None:
        if self._on_drop is not None:
            self._on_drop()
