from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from proxy.ledger.address import LedgerAddress, read_address
from proxy.ledger.database import (
    for_writing,
    pruning_database,
    reading_database,
    writing_database,
)
from proxy.ledger.trouble import LedgerTrouble, Trouble
from tests.fakes.databases import (
    connected,
    locked_by_another_process,
    without_rights_of_root,
)
from tests.fakes.ledgers import store_at
from tests.fakes.postgres import Postgres


@pytest.mark.parametrize("look", [reading_database, pruning_database])
def test_looking_never_makes_a_file(sqlite: LedgerAddress, look: object) -> None:
    assert sqlite.file
    assert callable(look)

    with pytest.raises(LedgerTrouble, match="is not there") as caught:
        look(sqlite)

    assert caught.value.kind is Trouble.MISSING
    assert not sqlite.file.exists()


def test_reader_cannot_write(address: LedgerAddress) -> None:
    store_at(address).close()

    with (
        pytest.raises(DBAPIError, match=r"readonly|read-only"),
        connected(reading_database(address)) as connection,
    ):
        connection.execute(text("DELETE FROM requests"))


def test_reader_reads_while_a_writer_is_in_the_midst_of_it(address: LedgerAddress) -> None:
    store_at(address).close()
    writing = writing_database(address)

    with for_writing(writing).begin() as writer:
        writer.execute(text("DELETE FROM requests"))
        with connected(reading_database(address)) as reader:
            assert reader.scalar(text("SELECT count(*) FROM requests")) == 0
    writing.dispose()


def test_transaction_for_writing_has_sqlite_s_lock_from_its_beginning(
    sqlite: LedgerAddress,
) -> None:
    store_at(sqlite).close()
    one, other = writing_database(sqlite), writing_database(sqlite)

    with (
        for_writing(one).begin(),
        pytest.raises(DBAPIError, match="database is locked"),
        for_writing(other).begin(),
    ):
        pass

    with other.begin() as reader:
        assert reader.scalar(text("SELECT count(*) FROM requests")) == 0
    for database in (one, other):
        database.dispose()


def test_attempts_go_with_their_request(address: LedgerAddress) -> None:
    store_at(address).close()
    row = "INSERT INTO attempts (request, number, step, result, status, cold, faults)"

    with (
        pytest.raises(DBAPIError, match=r"(?i)foreign key"),
        connected(for_writing(writing_database(address))) as connection,
    ):
        connection.execute(text(f"{row} VALUES (99, 1, 'first', 'valid', 200, false, '')"))


@pytest.mark.slow
def test_session_of_postgresql_is_named_and_has_deadlines(postgres: Postgres) -> None:
    address = read_address(postgres.url())

    with connected(writing_database(address)) as connection:
        assert connection.scalar(text("SHOW application_name")) == "sluicegate"
        assert connection.scalar(text("SHOW statement_timeout")) == "10s"
        assert connection.scalar(text("SHOW lock_timeout")) == "5s"


def test_opening_a_ledger_that_is_up_to_date_needs_no_lock(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    store_at(sqlite).close()

    with locked_by_another_process(sqlite.file):
        store = store_at(sqlite)
        assert store.newest_starts("main", 1) == []
        store.close()


def test_ledger_in_a_folder_that_may_only_be_read_can_be_read(open_folder: Path) -> None:
    address = read_address(f"sqlite:///{open_folder}/x.db")
    store = store_at(address)
    open_folder.chmod(0o555)

    with without_rights_of_root(), connected(reading_database(address)) as while_it_is_written:
        assert while_it_is_written.scalar(text("SELECT count(*) FROM requests")) == 0
    store.close()
    with (
        without_rights_of_root(),
        connected(reading_database(address)) as while_nobody_does,
    ):
        assert while_nobody_does.scalar(text("SELECT count(*) FROM requests")) == 0
