from collections.abc import Iterator

import pytest

from proxy.ledger.address import LedgerAddress
from proxy.ledger.rows import request_rows
from proxy.ledger.version import HEAD, VERSION_TABLE
from proxy.ledger.writing_connection import WritingConnection
from tests.fakes.ledgers import store_at
from tests.fakes.records import request_record


@pytest.fixture
def connection(address: LedgerAddress) -> Iterator[WritingConnection]:
    store_at(address).close()
    connection = WritingConnection(address)
    yield connection
    connection.close()


def request_row(number: int) -> dict[str, object]:
    return {"number": number, **request_rows(request_record(str(number))).request}


def test_transaction_that_fails_writes_nothing(connection: WritingConnection) -> None:
    def fail() -> None:
        with connection.transaction():
            connection.insert("requests", [request_row(1)])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    with connection.transaction():
        connection.insert("requests", [request_row(2)])

    assert [row["id"] for row in connection.rows("requests", {"status": 200})] == ["2"]


def test_tables_are_there_or_not(connection: WritingConnection) -> None:
    assert connection.has_table(VERSION_TABLE)
    assert not connection.has_table("no_such_table")
    assert connection.value(f"SELECT version_num FROM {VERSION_TABLE}") == HEAD  # noqa: S608 - our own name


def test_numbers_go_on_after_the_last_one(connection: WritingConnection) -> None:
    taken: list[int] = []
    for count in (1, 3):
        with connection.transaction():
            numbers = connection.next_numbers(count)
            connection.insert("requests", [request_row(number) for number in numbers])
        taken += numbers

    assert taken == [1, 2, 3, 4]


def test_row_is_changed_where_it_was_asked_for(connection: WritingConnection) -> None:
    connection.insert("requests", [request_row(1), request_row(2)])

    connection.update("requests", {"status": 422}, {"id": "2"})

    assert [row["id"] for row in connection.rows("requests", {"status": 422})] == ["2"]


def test_no_rows_are_no_statement(connection: WritingConnection) -> None:
    connection.insert("no_such_table", [])
