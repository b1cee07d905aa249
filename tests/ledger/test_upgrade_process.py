from pathlib import Path

import pytest

from proxy.ledger.address import Backend, LedgerAddress
from proxy.ledger.trouble import LedgerTrouble, Trouble
from proxy.ledger.upgrade_process import upgrade_elsewhere
from proxy.ledger.version import HEAD, VERSION_TABLE
from tests.fakes.databases import rows_of, run_on


def test_tables_are_made_in_a_process_that_ends(sqlite: LedgerAddress) -> None:
    assert sqlite.file

    upgrade_elsewhere(sqlite)

    assert rows_of(sqlite.file, f"SELECT version_num FROM {VERSION_TABLE}") == [(HEAD,)]  # noqa: S608 - our own name
    assert [path.name for path in sqlite.file.parent.iterdir()] == [sqlite.file.name]


def test_trouble_of_an_upgrade_is_told(sqlite: LedgerAddress) -> None:
    assert sqlite.file
    run_on(sqlite.file, "CREATE TABLE requests (mine TEXT)")

    with pytest.raises(LedgerTrouble, match="tables of another program") as caught:
        upgrade_elsewhere(sqlite)

    assert caught.value.kind is Trouble.FOREIGN


def test_upgrade_that_dies_is_a_ledger_that_does_not_work(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    address = LedgerAddress(Backend.SQLITE, "x.db", "no address", tmp_path / "x.db")

    with pytest.raises(LedgerTrouble, match="the upgrade ended with code 1") as caught:
        upgrade_elsewhere(address)

    assert caught.value.kind is Trouble.BROKEN
    assert "WrongAddress" in capfd.readouterr().err
