"""Hands finished requests to those who count, log and keep them, some at a time.

What is written of a request is made after its reply has left, and never many at once: so it costs
the next requests little, and none of them much.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from proxy.telemetry.record import RecordSink, RequestRecord

Describe = Callable[[], RequestRecord]

_DELAY_SECONDS: Final = 0.004
# How many are written before the loop looks at its sockets again: these, or a share of what waits,
# so that a backlog cannot grow.
_AT_ONCE: Final = 2
_SHARE: Final = 16
_LOG: Final = logging.getLogger(__name__)


class Recorder:
    """Writes descriptions from 4 ms after the first on, a few a turn; `flush` writes all at once.

    `failed` counts what raised: descriptions, and records that a sink did not take. They cost no
    other record and no other sink anything; `on_failed` hears how many it was.
    """

    def __init__(
        self, sinks: Sequence[RecordSink], on_failed: Callable[[int], None] = lambda _: None
    ) -> None:
        self._sinks = sinks
        self._on_failed = on_failed
        self._waiting: deque[Describe] = deque()
        self._is_due = False
        self.failed = 0

    def add(self, describe: Describe) -> None:
        self._waiting.append(describe)
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(_DELAY_SECONDS, self._work)

    def flush(self) -> None:
        self._write(len(self._waiting))

    def _work(self) -> None:
        self._write(max(_AT_ONCE, len(self._waiting) // _SHARE))
        self._is_due = bool(self._waiting)
        if self._is_due:
            asyncio.get_running_loop().call_soon(self._work)

    def _write(self, count: int) -> None:
        waiting = self._waiting
        taken = [waiting.popleft() for _ in range(min(count, len(waiting)))]
        kinds = [type(error).__name__ for describe in taken for error in self._hand_out(describe)]
        if kinds:
            self.failed += len(kinds)
            self._on_failed(len(kinds))
            # Only the type: a message may quote a prompt.
            _LOG.error("Records failed %d times: %s", len(kinds), ", ".join(sorted(set(kinds))))

    def _hand_out(self, describe: Describe) -> Iterator[Exception]:
        """Give one record to every sink; what was raised comes out."""
        try:
            record = describe()
        except Exception as error:  # noqa: BLE001 - one record must not cost the others
            yield error
            return
        for sink in self._sinks:
            try:
                sink.add(record)
            except Exception as error:  # noqa: BLE001 - nor one sink the others
                yield error
