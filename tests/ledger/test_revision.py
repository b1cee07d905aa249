import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, insert, inspect, text

from proxy.ledger.address import Backend, LedgerAddress
from proxy.ledger.database import for_writing, reading_database, writing_database
from proxy.ledger.merge import StoredStart
from proxy.ledger.revision import (
    bring_up_to_date,
    demand_present,
    stored_revision,
)
from proxy.ledger.rows import start_row
from proxy.ledger.tables import ENGINE_STARTS, METADATA
from proxy.ledger.trouble import LedgerTrouble, Trouble
from proxy.ledger.upgrade import migration_config, upgrade
from proxy.ledger.version import HEAD, VERSION_TABLE
from tests.fakes.databases import connected, rows_of, run_on
from tests.fakes.ledgers import store_at
from tests.fakes.records import start_record


def revisions() -> list[str]:
    """All there are, the first one first."""
    scripts = ScriptDirectory.from_config(migration_config())
    return [script.revision for script in scripts.walk_revisions()][::-1]


def differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    return list(compare_metadata(context, METADATA))


def stamp(address: LedgerAddress, revision: str) -> None:
    with connected(writing_database(address)) as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '{revision}'"))  # noqa: S608


def test_newest_migration_is_the_one_the_program_writes() -> None:
    assert revisions()[-1] == HEAD
    assert revisions() == [f"{number:04}" for number in range(1, len(revisions()) + 1)]


def test_new_ledger_has_the_tables_of_the_models(address: LedgerAddress) -> None:
    database = writing_database(address)

    bring_up_to_date(address)

    with database.connect() as connection:
        assert stored_revision(connection) == HEAD
        assert differences(connection) == []
    database.dispose()


def test_ledger_of_the_first_revision_comes_up_step_by_step(address: LedgerAddress) -> None:
    database = writing_database(address)
    first, *later = revisions()
    with for_writing(database).begin() as connection:
        upgrade(connection, first)
        row = start_row(StoredStart(start_record("old")))
        known = {name: row[name] for name in row if name in _columns(connection)}
        connection.execute(insert(ENGINE_STARTS), known)

    for revision in later:
        with for_writing(database).begin() as connection:
            upgrade(connection, revision)
            assert stored_revision(connection) == revision
    bring_up_to_date(address)

    with database.connect() as connection:
        assert differences(connection) == []
        assert connection.scalar(text("SELECT key FROM engine_starts")) == "old"
    database.dispose()


def _columns(connection: Connection) -> set[str]:
    return {column["name"] for column in inspect(connection).get_columns("engine_starts")}


def test_failed_migration_leaves_nothing_behind(sqlite: LedgerAddress) -> None:
    database = writing_database(sqlite)

    def fail() -> None:
        with for_writing(database).begin() as connection:
            upgrade(connection, HEAD)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    with database.connect() as connection:
        assert inspect(connection).get_table_names() == []
    database.dispose()


def test_proxies_that_start_at_once_make_the_tables_once(address: LedgerAddress) -> None:
    ready = threading.Barrier(4)
    opened: list[str] = []

    def start(name: str) -> None:
        ready.wait()
        while name not in opened:
            try:
                store_at(address, name).close()
            except LedgerTrouble as trouble:
                assert trouble.kind is Trouble.LOCKED  # noqa: PT017 - the writer tries again too
            else:
                opened.append(name)

    threads = [threading.Thread(target=start, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(opened) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("revision", ["0999", "2f1c"])
def test_ledger_of_a_newer_program_is_neither_written_nor_read(
    address: LedgerAddress, revision: str
) -> None:
    store_at(address).close()
    stamp(address, revision)

    with pytest.raises(LedgerTrouble, match="newer Sluicegate; upgrade") as caught:
        store_at(address)
    with (
        connected(reading_database(address)) as connection,
        pytest.raises(LedgerTrouble, match=revision),
    ):
        demand_present(connection, address)
    assert caught.value.kind is Trouble.NEWER


def test_tables_of_another_program_are_left_alone(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    run_on(sqlite.file, "CREATE TABLE requests (mine TEXT)")

    with pytest.raises(LedgerTrouble, match="tables of another program") as caught:
        store_at(sqlite)

    assert caught.value.kind is Trouble.FOREIGN
    assert rows_of(sqlite.file, "SELECT name FROM sqlite_master") == [("requests",)]


def test_other_tables_beside_ours_do_no_harm(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    run_on(sqlite.file, "CREATE TABLE alembic_version (version_num TEXT); CREATE TABLE x (y)")

    store_at(sqlite).close()

    assert rows_of(sqlite.file, f"SELECT version_num FROM {VERSION_TABLE}") == [(HEAD,)]  # noqa: S608


def test_ledger_of_an_older_program_is_not_read_before_it_is_upgraded(
    sqlite: LedgerAddress,
) -> None:
    store_at(sqlite).close()
    stamp(sqlite, "0000")

    with (
        connected(reading_database(sqlite)) as connection,
        pytest.raises(LedgerTrouble, match="`sluicegate serve` brings it up to date"),
    ):
        demand_present(connection, sqlite)


def test_database_without_our_tables_is_no_ledger(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    run_on(sqlite.file, "CREATE TABLE x (y)")

    with (
        connected(reading_database(sqlite)) as connection,
        pytest.raises(LedgerTrouble, match="is not there"),
    ):
        demand_present(connection, sqlite)


def test_folder_with_a_percent_sign_can_hold_a_ledger(tmp_path: Path) -> None:
    file = tmp_path / "100% #1?" / "a b.db"
    file.parent.mkdir()
    address = LedgerAddress(Backend.SQLITE, str(file), "sqlite:///x", file)

    store_at(address).close()

    assert file.is_file()
