"""Hands finished requests to those who count, log and keep them, a batch at a time.

What is written of a request is made after its reply has left, many at once: so it costs the next
request little.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from proxy.telemetry.record import RecordSink, RequestRecord

Describe = Callable[[], RequestRecord]

_BATCH_SECONDS: Final = 0.02
_BATCH: Final = 64
_LOG: Final = logging.getLogger(__name__)


class Recorder:
    """Keeps descriptions for at most 20 ms, or until there are 64; `flush` empties it at once.

    `failed` counts what raised: descriptions, and records that a sink did not take. They cost no
    other record and no other sink anything.
    """

    def __init__(self, sinks: Sequence[RecordSink]) -> None:
        self._sinks = sinks
        self._waiting: list[Describe] = []
        self.failed = 0

    def add(self, describe: Describe) -> None:
        self._waiting.append(describe)
        if len(self._waiting) == 1:
            asyncio.get_running_loop().call_later(_BATCH_SECONDS, self.flush)
        elif len(self._waiting) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        kinds = [type(error).__name__ for describe in waiting for error in self._hand_out(describe)]
        if kinds:
            self.failed += len(kinds)
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
