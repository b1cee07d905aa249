import threading

import pytest

from proxy.ledger.address import Backend, LedgerAddress
from proxy.ledger.prune import Pruned, prune
from proxy.ledger.queries import RequestFilter, read_requests, read_starts
from proxy.ledger.trouble import LedgerTrouble
from tests.fakes.databases import locked_by_another_process, rows_of, run_on
from tests.fakes.ledgers import store_at
from tests.fakes.records import SEEN_AT, attempt_record, request_record, start_record


@pytest.fixture
def filled(address: LedgerAddress) -> LedgerAddress:
    """3000 requests, one a second, and four starts of two lanes."""
    attempts = (attempt_record(1), attempt_record(2))
    store = store_at(address)
    for first in range(0, 3000, 500):
        store.write(
            [
                request_record(str(number), received_at=SEEN_AT + number, attempts=attempts)
                for number in range(first, first + 500)
            ]
        )
    store.write([start_record("1"), start_record("2", seen_at=SEEN_AT + 1)])
    store.write([start_record("3", seen_at=SEEN_AT + 9999), start_record("1", lane="judge")])
    store.close()
    return address


def test_requests_from_before_go_with_all_that_is_theirs(filled: LedgerAddress) -> None:
    pruned = prune(filled, SEEN_AT + 2990, starts=False, dry_run=False)

    assert (pruned.requests, pruned.starts) == (2990, 0)
    left = read_requests(filled, RequestFilter(limit=5000))
    assert [request.id for request in left] == [str(number) for number in range(2990, 3000)]
    assert len(read_starts(filled)) == 4
    if filled.file:
        for table in ("attempts", "verdicts"):
            assert rows_of(filled.file, f"SELECT count(*) FROM {table}") == [(20,)]  # noqa: S608


def test_room_is_given_back_to_the_disk(filled: LedgerAddress) -> None:
    pruned = prune(filled, SEEN_AT + 9999, starts=False, dry_run=False)

    if filled.backend is Backend.SQLITE:
        assert filled.file
        assert pruned.freed_bytes
        assert pruned.freed_bytes > 400_000
        assert filled.file.stat().st_size < 100_000
    else:
        assert pruned.freed_bytes is None


def test_starts_go_only_when_asked_for_and_the_newest_of_a_lane_stays(
    filled: LedgerAddress,
) -> None:
    pruned = prune(filled, SEEN_AT + 99_999, starts=True, dry_run=False)

    assert pruned.starts == 2
    assert {(start.lane, start.key) for start in read_starts(filled)} == {
        ("main", "3"),
        ("judge", "1"),
    }


def test_dry_run_only_counts(filled: LedgerAddress) -> None:
    pruned = prune(filled, SEEN_AT + 100, starts=True, dry_run=True)

    assert pruned == Pruned(requests=100, starts=2)
    assert len(read_requests(filled, RequestFilter(limit=5000))) == 3000
    assert len(read_starts(filled)) == 4


def test_nothing_old_is_nothing_removed(filled: LedgerAddress) -> None:
    pruned = prune(filled, SEEN_AT, starts=True, dry_run=False)

    assert (pruned.requests, pruned.starts) == (0, 0)


def test_proxy_goes_on_writing_while_its_ledger_is_pruned(filled: LedgerAddress) -> None:
    store = store_at(filled, "proxy")

    def write() -> None:
        for number in range(50):
            store.write([request_record(f"n{number}", received_at=SEEN_AT + 5000 + number)])

    writing = threading.Thread(target=write)
    writing.start()
    prune(filled, SEEN_AT + 2500, starts=False, dry_run=False)
    writing.join()
    store.close()

    ids = [request.id for request in read_requests(filled, RequestFilter(limit=5000))]
    assert ids == [str(number) for number in range(2500, 3000)] + [f"n{n}" for n in range(50)]


def test_file_that_was_begun_by_another_program_is_shrunk_too(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    run_on(sqlite.file, "CREATE TABLE theirs (x)")
    store = store_at(sqlite)
    store.write([request_record(str(number)) for number in range(2000)])
    store.close()

    pruned = prune(sqlite, SEEN_AT + 1, starts=False, dry_run=False)

    assert pruned.freed_bytes
    assert pruned.freed_bytes > 100_000


def test_ledger_that_is_not_there_is_not_made(sqlite: LedgerAddress) -> None:
    assert sqlite.file

    with pytest.raises(LedgerTrouble, match="is not there"):
        prune(sqlite, SEEN_AT, starts=False, dry_run=False)

    assert not sqlite.file.exists()


@pytest.mark.slow
def test_locked_ledger_is_told(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    store_at(sqlite).close()

    with (
        locked_by_another_process(sqlite.file),
        pytest.raises(LedgerTrouble, match="is locked"),
    ):
        prune(sqlite, SEEN_AT, starts=False, dry_run=False)
