import pytest

from proxy.errors import Fault
from proxy.ledger.address import LedgerAddress
from proxy.ledger.queries import RequestFilter, read_requests, read_starts
from proxy.ledger.trouble import LedgerTrouble
from proxy.telemetry.outcome import Outcome
from proxy.telemetry.record import RequestRecord
from tests.fakes.databases import rows_of
from tests.fakes.ledgers import store_at
from tests.fakes.records import SEEN_AT, attempt_record, request_record, start_record


def _request(number: int, **more: object) -> RequestRecord:
    return request_record(str(number), received_at=SEEN_AT + number, **more)


@pytest.fixture
def filled(address: LedgerAddress) -> LedgerAddress:
    """Five requests of two policies, and three starts of two lanes."""
    failed = (attempt_record(1, Fault.NOT_JSON), attempt_record(2))
    several = attempt_record(1, faults=(Fault.UNKNOWN_TOOL, Fault.NOT_JSON))
    store = store_at(address)
    store.write(
        [
            _request(0, attempts=failed),
            _request(1, outcome=Outcome.REJECTED, policy="strict@1"),
            _request(2, attempts=(attempt_record(1, Fault.TRUNCATED),)),
            _request(3, policy="strict_2@9", attempts=(several,)),
            _request(4, policy="strictly@1"),
            start_record("1"),
            start_record("2", seen_at=SEEN_AT + 60),
            start_record("1", lane="judge", seen_at=SEEN_AT + 30),
        ]
    )
    store.close()
    return address


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (RequestFilter(), "01234"),
        (RequestFilter(limit=2), "34"),
        (RequestFilter(outcome="rejected"), "1"),
        (RequestFilter(policy="strict"), "1"),
        (RequestFilter(policy="strict@1"), "1"),
        (RequestFilter(policy="strict_"), ""),
        (RequestFilter(policy="strict@2"), ""),
        (RequestFilter(fault="not_json"), "03"),
        (RequestFilter(fault="truncated"), "2"),
        (RequestFilter(fault="json"), ""),
        (RequestFilter(fault="not%"), ""),
        (RequestFilter(since=SEEN_AT + 3), "34"),
        (RequestFilter(since=SEEN_AT + 1, fault="not_json", policy="strict_2"), "3"),
    ],
    ids=str,
)
def test_filters(filled: LedgerAddress, wanted: RequestFilter, expected: str) -> None:
    assert "".join(request.id for request in read_requests(filled, wanted)) == expected


def test_starts_come_oldest_first_of_one_lane_or_all(filled: LedgerAddress) -> None:
    def named(lane: str | None = None, since: float | None = None) -> list[str]:
        return [f"{start.lane}/{start.key}" for start in read_starts(filled, lane, since)]

    assert named() == ["main/1", "judge/1", "main/2"]
    assert named("main") == ["main/1", "main/2"]
    assert named(since=SEEN_AT + 30) == ["judge/1", "main/2"]
    assert named("nothing") == []


def test_more_requests_than_one_statement_takes_are_read_whole(sqlite: LedgerAddress) -> None:
    records = [_request(number, attempts=(attempt_record(),)) for number in range(1100)]
    store = store_at(sqlite)
    store.write(records)
    store.close()

    assert read_requests(sqlite, RequestFilter(limit=2000)) == records


def test_looking_at_what_is_not_there_makes_nothing(sqlite: LedgerAddress) -> None:
    assert sqlite.file

    with pytest.raises(LedgerTrouble, match="is not there"):
        read_starts(sqlite)

    assert not sqlite.file.exists()


def test_file_that_is_no_database_is_told(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    sqlite.file.write_text("no database\n" * 100)

    with pytest.raises(LedgerTrouble, match="is no SQLite database"):
        read_requests(sqlite, RequestFilter())


def test_ledger_is_read_while_a_proxy_writes(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    store = store_at(sqlite)
    for number in range(20):
        store.write([_request(number)])
        assert len(read_requests(sqlite, RequestFilter())) == number + 1
    store.close()

    assert rows_of(sqlite.file, "SELECT count(*) FROM requests") == [(20,)]
