import logging
from collections.abc import Sequence

import pytest
from typing_extensions import override

from proxy.telemetry.engine_start import EngineStartRecord, StartSink, StartSource
from proxy.telemetry.start_sinks import StartSinks
from tests.fakes.engine import Told

RECORD = EngineStartRecord("main", "1.0", StartSource.METRICS, seen_at=2.0)


class Broken(StartSink):
    @override
    def start(self, record: EngineStartRecord) -> None:
        raise OSError("secret")


def test_all_sinks_hear_of_a_start() -> None:
    told = Told(), Told()

    StartSinks(told).start(RECORD)

    assert [each.records for each in told] == [[RECORD], [RECORD]]


@pytest.mark.parametrize("broken_first", [True, False])
def test_sink_that_raises_costs_the_others_nothing(
    broken_first: bool, caplog: pytest.LogCaptureFixture
) -> None:
    told = Told()
    order: Sequence[StartSink] = (Broken(), told) if broken_first else (told, Broken())
    sinks = StartSinks(order)

    with caplog.at_level(logging.ERROR):
        sinks.start(RECORD)

    assert told.records == [RECORD]
    assert sinks.failed == 1
    assert "OSError" in caplog.text
    assert "secret" not in caplog.text
