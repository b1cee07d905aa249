"""Which revision the ledger's tables have, and how they come to the one this program writes."""

from typing import Final

from sqlalchemy import Connection, Engine, inspect, text

from proxy.ledger.address import LedgerAddress
from proxy.ledger.database import for_writing, writing_database
from proxy.ledger.diagnosis import told_as_trouble
from proxy.ledger.tables import METADATA
from proxy.ledger.trouble import LedgerTrouble, Trouble
from proxy.ledger.version import HEAD, VERSION_TABLE, refuse_newer

_ADVISORY_LOCK: Final = 0x736C7569636567  # "sluiceg"


def stored_revision(connection: Connection) -> str | None:
    """The revision of the tables; None where there are none."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}"))  # noqa: S608 - our own name
    return None if found is None else str(found)


def bring_up_to_date(address: LedgerAddress) -> None:
    """Make or upgrade the tables, under a lock, so that of two proxies one does it.

    Raises `LedgerTrouble`, also where they are newer, or another program's.
    """
    with told_as_trouble(address):
        database = writing_database(address)
        try:
            _bring_up_to_date(database, address)
        finally:
            database.dispose()


def _bring_up_to_date(database: Engine, address: LedgerAddress) -> None:
    with database.connect() as connection:
        revision = stored_revision(connection)
    if revision == HEAD:
        return
    with for_writing(database).begin() as connection:
        _lock(connection)
        revision = stored_revision(connection)
        if revision == HEAD:
            return
        if revision is None:
            _refuse_other_tables(connection, address)
        else:
            refuse_newer(revision, address)
        # Its import takes long, and those who only look at a ledger do not need it.
        from proxy.ledger.upgrade import upgrade  # noqa: PLC0415

        upgrade(connection, HEAD)


def demand_present(connection: Connection, address: LedgerAddress) -> None:
    """Raises `LedgerTrouble` unless the tables are of the revision that this program reads."""
    revision = stored_revision(connection)
    if revision is None:
        raise LedgerTrouble(Trouble.MISSING, address.shown)
    refuse_newer(revision, address)
    if revision != HEAD:
        raise LedgerTrouble(Trouble.OLDER, address.shown, f"revision {revision}")


def _lock(connection: Connection) -> None:
    """SQLite's transaction has the write lock already."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})


def _refuse_other_tables(connection: Connection, address: LedgerAddress) -> None:
    ours = set(METADATA.tables) & set(inspect(connection).get_table_names())
    if ours:
        raise LedgerTrouble(Trouble.FOREIGN, address.shown, ", ".join(sorted(ours)))
