import json

from proxy.errors import Fault
from proxy.ledger.requests_report import requests_json, requests_table
from proxy.telemetry.outcome import Outcome
from tests.fakes.records import attempt_record, request_record

REJECTED = request_record(
    "req-1",
    outcome=Outcome.REJECTED,
    status=422,
    attempts=(
        attempt_record(1, Fault.NOT_JSON),
        attempt_record(2, Fault.NOT_JSON),
        attempt_record(3, Fault.TRUNCATED),
    ),
    duration_seconds=1.234,
)


def test_each_request_is_one_line_with_steps_and_each_fault_once() -> None:
    lines = list(requests_table([REJECTED], "ledger.db"))

    assert lines[1].split() == [
        *("2026-11-30", "00:53:20", "req-1", "rejected", "422", "production@abdf03cc14b9"),
        *("first", "cold", "cold", "not_json", "truncated", "1.23"),
    ]


def test_table_fits_a_terminal_of_120_columns() -> None:
    long = request_record("r" * 300, policy="p" * 80, attempts=REJECTED.attempts * 9)

    assert all(len(line) <= 120 for line in requests_table([long], "ledger.db"))


def test_no_request_says_which_are_kept() -> None:
    lines = list(requests_table([], "/data/ledger.db"))

    assert lines[0] == "No such requests in /data/ledger.db."
    assert "record: verdicts" in lines[1]


def test_json_holds_requests_as_look_up_tells_them() -> None:
    document = json.loads(requests_json([REJECTED]))

    (request,) = document["requests"]
    assert request["event"] == "request"
    assert request["outcome"] == "rejected"
    assert [attempt["faults"] for attempt in request["attempts"]] == [
        *(["not_json"], ["not_json"], ["truncated"]),
    ]
    assert "stream" not in request
