"""Real troubles of real databases, and what is made of them."""

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DataError, DBAPIError, OperationalError, ProgrammingError

from proxy.ledger.address import LedgerAddress, read_address
from proxy.ledger.database import writing_database
from proxy.ledger.diagnosis import told_as_trouble
from proxy.ledger.queries import RequestFilter, read_requests
from proxy.ledger.store import Store
from proxy.ledger.trouble import LedgerTrouble, Trouble
from proxy.ledger.writing_connection import WritingConnection
from tests.fakes.databases import (
    locked_by_another_process,
    run_on,
    without_rights_of_root,
)
from tests.fakes.ledgers import store_at
from tests.fakes.postgres import PASSWORD, Postgres
from tests.fakes.records import request_record

POSTGRESQL = read_address("postgresql://me:p%40ss@h/x")


def small_store(address: LedgerAddress) -> Store:
    """A store on a disk that is as good as full."""
    connection = WritingConnection(address)
    connection.value("PRAGMA max_page_count=40")
    return Store(connection, address, "a")


def trouble_of(address: LedgerAddress) -> LedgerTrouble:
    """What opening the ledger and writing one record runs into."""
    with pytest.raises(LedgerTrouble) as caught:  # noqa: PT012 - either may fail
        store = store_at(address)
        try:
            store.write([request_record()])
        finally:
            store.close()
    return caught.value


def test_file_that_is_no_database_is_left_as_it_is(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    sqlite.file.write_text("a letter to my aunt\n" * 100)

    trouble = trouble_of(sqlite)

    assert trouble.kind is Trouble.NO_DATABASE
    assert str(trouble).startswith(f"the ledger {sqlite.file} is no SQLite database")
    assert sqlite.file.read_text() == "a letter to my aunt\n" * 100


def test_damaged_file_is_left_as_it_is(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    store_at(sqlite).close()
    whole = sqlite.file.read_bytes()
    damaged = whole[:4096] + b"\xff" * (len(whole) - 4096)
    sqlite.file.write_bytes(damaged)

    assert trouble_of(sqlite).kind is Trouble.CORRUPT
    assert sqlite.file.read_bytes() == damaged


def test_file_cut_short_is_damaged(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    store_at(sqlite).close()
    run_on(sqlite.file, "PRAGMA journal_mode=DELETE")
    sqlite.file.write_bytes(sqlite.file.read_bytes()[:8192])

    assert trouble_of(sqlite).kind is Trouble.CORRUPT


def test_missing_folder_is_told_and_not_made(tmp_path: Path) -> None:
    trouble = trouble_of(read_address(f"sqlite:///{tmp_path}/not/there/x.db"))

    assert trouble.kind is Trouble.NO_FOLDER
    assert not (tmp_path / "not").exists()


def test_folder_instead_of_a_file_does_not_work(tmp_path: Path) -> None:
    assert trouble_of(read_address(f"sqlite:///{tmp_path}")).kind is Trouble.BROKEN


def test_lock_of_another_process_is_told(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    store_at(sqlite).close()

    with locked_by_another_process(sqlite.file):
        trouble = trouble_of(sqlite)

    assert trouble.kind is Trouble.LOCKED


def test_lock_on_a_new_file_is_told(sqlite: LedgerAddress) -> None:
    assert sqlite.file

    with locked_by_another_process(sqlite.file, "BEGIN EXCLUSIVE"):
        assert trouble_of(sqlite).kind is Trouble.LOCKED


def test_file_that_may_only_be_read_is_told(open_folder: Path) -> None:
    address = read_address(f"sqlite:///{open_folder}/x.db")
    store_at(address).close()
    (open_folder / "x.db").chmod(0o444)
    open_folder.chmod(0o555)

    with without_rights_of_root():
        assert trouble_of(address).kind is Trouble.READ_ONLY


def test_folder_that_may_not_be_written_is_told(open_folder: Path) -> None:
    open_folder.chmod(0o555)

    with without_rights_of_root():
        trouble = trouble_of(read_address(f"sqlite:///{open_folder}/x.db"))

    assert trouble.kind is Trouble.READ_ONLY


def test_full_disk_is_told_and_what_was_written_stays(sqlite: LedgerAddress) -> None:
    store = store_at(sqlite)
    store.write([request_record("kept")])
    store.close()
    full = small_store(sqlite)

    with pytest.raises(LedgerTrouble) as caught:
        full.write([request_record(str(number)) for number in range(5000)])
    full.close()

    assert caught.value.kind is Trouble.FULL
    assert [request.id for request in read_requests(sqlite, RequestFilter())] == ["kept"]


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("53100", Trouble.FULL),
        ("57014", Trouble.LOCKED),
        ("40P01", Trouble.LOCKED),
        ("25006", Trouble.READ_ONLY),
        ("XX001", Trouble.CORRUPT),
        ("22021", Trouble.REFUSED),
        ("23505", Trouble.REFUSED),
        ("42P01", Trouble.BROKEN),
        ("57P01", Trouble.UNREACHABLE),
        ("08006", Trouble.UNREACHABLE),
        (None, Trouble.UNREACHABLE),
    ],
)
def test_states_of_postgresql(state: str | None, kind: Trouble) -> None:
    class Raised(Exception):
        sqlstate = state

    with pytest.raises(LedgerTrouble) as caught, told_as_trouble(POSTGRESQL):
        raise DBAPIError("SELECT", {"id": "r"}, Raised("it said\nDETAIL: Key (id)=(secret)"))

    assert caught.value.kind is kind
    assert caught.value.detail == "it said"


@pytest.mark.parametrize(
    ("wrapped", "kind"),
    [
        (DataError, Trouble.REFUSED),
        (ProgrammingError, Trouble.REFUSED),
        (OperationalError, Trouble.UNREACHABLE),
    ],
)
def test_value_that_the_driver_refuses_is_no_lost_connection(
    wrapped: type[DBAPIError], kind: Trouble
) -> None:
    with pytest.raises(LedgerTrouble) as caught, told_as_trouble(POSTGRESQL):
        raise wrapped("INSERT", {}, Exception("text fields cannot contain NUL"))

    assert caught.value.kind is kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("SQLITE_IOERR_WRITE", Trouble.BROKEN),
        ("SQLITE_READONLY_DBMOVED", Trouble.READ_ONLY),
        ("SQLITE_CONSTRAINT_NOTNULL", Trouble.REFUSED),
        ("SQLITE_BUSY_SNAPSHOT", Trouble.LOCKED),
        ("SQLITE_ERROR", Trouble.BROKEN),
        (None, Trouble.REFUSED),
    ],
)
def test_names_of_sqlite_s_results(sqlite: LedgerAddress, name: str | None, kind: Trouble) -> None:
    error = sqlite3.OperationalError("it said")
    if name:
        error.sqlite_errorname = name

    with pytest.raises(LedgerTrouble) as caught, told_as_trouble(sqlite):
        raise error

    assert (caught.value.kind, caught.value.detail) == (kind, "it said")


def test_password_in_a_driver_s_message_is_scrubbed() -> None:
    with pytest.raises(LedgerTrouble) as caught, told_as_trouble(POSTGRESQL):
        raise DBAPIError("SELECT", {}, Exception('no host "p@ss" of postgresql://me:p%40ss@h'))

    assert str(caught.value) == (
        'the ledger postgresql://h/x cannot be reached (no host "***" of postgresql://me:***@h)'
    )


@pytest.mark.parametrize("otherwise", [Trouble.BROKEN, Trouble.REFUSED])
def test_what_nobody_knows_is_what_the_caller_says(otherwise: Trouble) -> None:
    with pytest.raises(LedgerTrouble) as caught, told_as_trouble(POSTGRESQL, otherwise):
        raise KeyError("x")

    assert caught.value.kind is otherwise


def test_trouble_that_is_told_already_stays_as_it_is() -> None:
    told = LedgerTrouble(Trouble.NEWER, "x.db")

    with pytest.raises(LedgerTrouble) as caught, told_as_trouble(POSTGRESQL):
        raise told

    assert caught.value is told


@pytest.mark.slow
def test_wrong_password_is_told_without_it(postgres: Postgres) -> None:
    trouble = trouble_of(read_address(postgres.url(password="wr0ng-p4ss")))

    assert trouble.kind is Trouble.UNREACHABLE
    assert "password authentication failed" in str(trouble)
    assert "wr0ng" not in str(trouble)


@pytest.mark.slow
def test_database_that_is_not_there_is_named(postgres: Postgres) -> None:
    trouble = trouble_of(read_address(postgres.url("nowhere")))

    assert trouble.kind is Trouble.UNREACHABLE
    assert 'database "nowhere" does not exist' in str(trouble)


@pytest.mark.slow
def test_role_that_may_not_write_is_told(postgres: Postgres) -> None:
    address = read_address(postgres.new_database("readable"))
    store_at(address).close()
    postgres.ask("CREATE ROLE reader LOGIN PASSWORD 'r'; GRANT pg_read_all_data TO reader")

    trouble = trouble_of(read_address(address.url.replace(f"sluicegate:{PASSWORD}", "reader:r")))

    assert trouble.kind is Trouble.READ_ONLY


@pytest.mark.slow
def test_table_that_is_gone_is_told(postgres: Postgres) -> None:
    address = read_address(postgres.new_database("dropped"))
    store_at(address).close()
    postgres.ask("DROP TABLE requests CASCADE", "dropped")

    assert trouble_of(address).kind is Trouble.BROKEN


@pytest.mark.slow
def test_lock_of_another_session_is_waited_for_and_then_told(postgres: Postgres) -> None:
    address = read_address(postgres.new_database("held"))
    store_at(address).close()
    database = writing_database(address)

    with database.begin() as connection:
        connection.execute(text("LOCK TABLE requests IN ACCESS EXCLUSIVE MODE"))
        trouble = trouble_of(address)
    database.dispose()

    assert trouble.kind is Trouble.LOCKED


def test_server_that_is_not_there_cannot_be_reached() -> None:
    address = read_address("postgresql://me:s3cret@127.0.0.1:1/x")

    trouble = trouble_of(address)

    assert trouble.kind is Trouble.UNREACHABLE
    assert "127.0.0.1:1/x" in str(trouble)
    assert "s3cret" not in str(trouble)
