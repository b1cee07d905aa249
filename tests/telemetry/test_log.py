import io
import json
import threading

import pytest
from typing_extensions import override

from proxy.telemetry.log import RequestLog
from proxy.telemetry.outcome import Endpoint, Outcome
from proxy.telemetry.record import RequestRecord


def _record(request_id: str) -> RequestRecord:
    return RequestRecord(
        id=request_id, received_at=1.5, endpoint=Endpoint.CHAT, outcome=Outcome.PASSED, status=200
    )


class StuckReader(io.StringIO):
    """Takes nothing until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Event()
        self.go_on = threading.Event()

    @override
    def write(self, text: str) -> int:
        self.reached.set()
        self.go_on.wait(5)
        return super().write(text)


def test_each_record_is_one_line_of_json_without_what_says_nothing() -> None:
    out = io.StringIO()
    log = RequestLog(out)

    log.add(_record("a\nb"))
    log.add(_record("c"))
    log.close()

    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert lines[0] == {
        "event": "request",
        "id": "a\nb",
        "received_at": 1.5,
        "endpoint": "chat",
        "outcome": "passed",
        "status": 200,
    }
    assert lines[1]["id"] == "c"


@pytest.mark.parametrize("counted", [True, False])
def test_lines_beyond_the_bound_are_dropped_and_counted(counted: bool) -> None:
    out, dropped = StuckReader(), list[int]()
    log = RequestLog(out, (lambda: dropped.append(1)) if counted else None)

    log.add(_record("first"))
    assert out.reached.wait(5)
    for number in range(10_003):
        log.add(_record(str(number)))
    out.go_on.set()
    log.close()

    assert len(dropped) == (3 if counted else 0)
    assert len(out.getvalue().splitlines()) == 10_001


def test_reader_that_is_gone_costs_lines_and_nothing_else() -> None:
    out, dropped = io.StringIO(), list[int]()
    log = RequestLog(out, lambda: dropped.append(1))
    out.close()

    log.add(_record("a"))
    log.add(_record("b"))
    log.close()

    assert len(dropped) == 2


def test_log_without_requests_writes_nothing() -> None:
    out = io.StringIO()

    RequestLog(out).close()

    assert out.getvalue() == ""
