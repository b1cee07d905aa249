import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import func, select

from proxy.errors import Fault
from proxy.ledger.address import LedgerAddress
from proxy.ledger.database import reading_database
from proxy.ledger.queries import RequestFilter, read_requests, read_starts
from proxy.ledger.store import Store
from proxy.ledger.tables import ATTEMPTS, REQUESTS, VERDICTS
from proxy.ledger.trouble import LedgerTrouble, Trouble
from proxy.telemetry.engine_start import FirstAnswer
from tests.fakes.databases import connected, rows_of, run_on
from tests.fakes.ledgers import store_at
from tests.fakes.records import (
    SEEN_AT,
    attempt_record,
    clean_start,
    request_record,
    start_record,
)


@contextmanager
def opened(address: LedgerAddress, writer: str = "a") -> Iterator[Store]:
    store = store_at(address, writer)
    try:
        yield store
    finally:
        store.close()


def count(address: LedgerAddress) -> tuple[int, ...]:
    """Rows of requests, attempts and verdicts."""
    with connected(reading_database(address)) as connection:
        return tuple(
            connection.scalar(select(func.count()).select_from(table)) or 0
            for table in (REQUESTS, ATTEMPTS, VERDICTS)
        )


def test_batch_of_requests_is_read_as_it_was_written(address: LedgerAddress) -> None:
    failed, good = attempt_record(1, Fault.LEADING_JUNK), attempt_record(2)
    records = [
        request_record(
            str(number),
            attempts=(failed, good),
            verdicts=good.verdicts,
            received_at=SEEN_AT + number,
        )
        for number in range(60)
    ]

    with opened(address) as store:
        store.write(records)

    assert count(address) == (60, 120, 120)
    assert read_requests(address, RequestFilter(limit=100)) == records


def test_id_that_clients_repeat_is_kept_each_time(address: LedgerAddress) -> None:
    with opened(address) as store:
        store.write([request_record("same"), request_record("same")])
        store.write([request_record("same")])

    assert count(address)[0] == 3


def test_start_grows_row_by_report(address: LedgerAddress) -> None:
    with opened(address) as store:
        store.write([start_record("k", facts={"vllm": "0.32.0"})])
        store.write([clean_start("k", "not_json"), start_record("other")])
        store.write([clean_start("k", "not_json", retry_step="cold", retry_valid=True)])

    starts = {start.key: start for start in read_starts(address)}
    assert starts.keys() == {"k", "other"}
    assert starts["k"].facts == {"vllm": "0.32.0"}
    assert starts["k"].first_answer is FirstAnswer.INVALID
    assert starts["k"].retry_valid is True


def test_proxies_before_one_engine_share_its_row(address: LedgerAddress) -> None:
    with opened(address, "a") as one, opened(address, "b") as other:
        one.write([clean_start("k", "not_json")])
        other.write([clean_start("k", untouched=False, certified_at=SEEN_AT)])

    (start,) = read_starts(address)
    assert start.first_answer is FirstAnswer.INVALID
    assert start.untouched is True
    assert start.certified_at == SEEN_AT


def test_proxies_that_tell_of_one_start_at_once_lose_nothing(address: LedgerAddress) -> None:
    names = "abcd"
    ready = threading.Barrier(len(names))

    def tell(name: str) -> None:
        with opened(address, name) as store:
            ready.wait()
            for number in range(10):
                store.write([start_record(f"k{number}", facts={name: "x"})])

    store_at(address, "first").close()
    threads = [threading.Thread(target=tell, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    starts = read_starts(address)
    assert len(starts) == 10
    assert all(start.facts.keys() == set(names) for start in starts)


def test_newest_starts_of_a_lane_come_first(address: LedgerAddress) -> None:
    starts = [start_record(str(number), seen_at=SEEN_AT + number) for number in range(5)]
    with opened(address) as store:
        store.write([*starts, start_record("9", lane="judge")])

        newest = store.newest_starts("main", 3)

    assert [start.key for start in newest] == ["4", "3", "2"]


def test_batch_with_a_record_that_is_refused_is_not_written_at_all(
    address: LedgerAddress,
) -> None:
    wrong = request_record("wrong", received_at=None)
    with opened(address) as store:
        with pytest.raises(LedgerTrouble) as caught:
            store.write([request_record("good"), wrong])
        store.write([request_record("after")])

    assert caught.value.kind is Trouble.REFUSED
    assert [request.id for request in read_requests(address, RequestFilter())] == ["after"]


def test_start_of_another_version_s_words_is_refused(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    with opened(sqlite) as store:
        store.write([start_record("k")])
        run_on(sqlite.file, "UPDATE engine_starts SET told_by = 'guess'")

        with pytest.raises(LedgerTrouble, match="guess") as caught:
            store.write([start_record("k")])

    assert caught.value.kind is Trouble.REFUSED


def test_sqlite_is_a_write_ahead_log_that_gives_room_back(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    with opened(sqlite) as store:
        store.write([request_record()])

        assert rows_of(sqlite.file, "PRAGMA journal_mode") == [("wal",)]
        assert rows_of(sqlite.file, "PRAGMA auto_vacuum") == [(2,)]


def test_no_text_of_prompt_or_reply_has_a_column() -> None:
    names = {column.name for table in (REQUESTS, ATTEMPTS, VERDICTS) for column in table.c}

    assert not names & {"prompt", "messages", "content", "text", "reply", "reason", "feedback"}
