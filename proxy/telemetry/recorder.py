"""Hands finished requests to those who count, log and keep them, a batch at a time.

What is written of a request is made after its reply has left, many at once: so it costs the next
request little.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from proxy.telemetry.record import RecordSink, RequestRecord

Describe = Callable[[], RequestRecord]

_BATCH_SECONDS: Final = 0.02
_BATCH: Final = 64


class Recorder:
    """Keeps descriptions for at most 20 ms, or until there are 64; `flush` empties it at once."""

    def __init__(self, sinks: Sequence[RecordSink]) -> None:
        self._sinks = sinks
        self._waiting: list[Describe] = []

    def add(self, describe: Describe) -> None:
        self._waiting.append(describe)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_later(_BATCH_SECONDS, self.flush)
        elif len(self._waiting) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for describe in waiting:
            record = describe()
            for sink in self._sinks:
                sink.add(record)
