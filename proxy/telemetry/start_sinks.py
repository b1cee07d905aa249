"""Hands every change of an engine start to all who want to hear of it."""

import logging
from collections.abc import Sequence
from typing import Final

from typing_extensions import override

from proxy.telemetry.engine_start import EngineStartRecord, StartSink

_LOG: Final = logging.getLogger(__name__)


class StartSinks(StartSink):
    """Several sinks as one. One that raises costs the others nothing; `failed` counts it."""

    def __init__(self, sinks: Sequence[StartSink]) -> None:
        self._sinks = tuple(sinks)
        self.failed = 0

    @override
    def start(self, record: EngineStartRecord) -> None:
        for sink in self._sinks:
            try:
                sink.start(record)
            except Exception as error:  # noqa: BLE001 - one sink must not cost the others
                self.failed += 1
                _LOG.error("An engine start was not taken: %s", type(error).__name__)
