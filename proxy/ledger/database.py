"""Connections to the ledger's database: one way for the writer, one for those who only look."""

import os
import sqlite3
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection

from proxy.ledger.address import Backend, LedgerAddress
from proxy.ledger.trouble import LedgerTrouble, Trouble

# How long SQLite waits for another program's lock; the writer goes on trying by itself.
_LOCK_SECONDS: Final = 0.5
# A reader of the command line has more patience.
_LOOK_SECONDS: Final = 5.0
_BEGIN: Final = "ledger_begin"
_PRAGMAS: Final = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA foreign_keys=ON",
)
# A PostgreSQL that hangs must not hold the writer for ever.
_POSTGRESQL: Final = {
    "application_name": "sluicegate",
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
_POSTGRESQL_SETTINGS: Final = (
    "SET statement_timeout = '10s'",
    "SET lock_timeout = '5s'",
    "SET idle_in_transaction_session_timeout = '60s'",
)


def writing_database(address: LedgerAddress) -> Engine:
    """For the writer: makes a SQLite file that is not there. Nothing is connected yet."""
    if address.backend is Backend.POSTGRESQL:
        return _postgresql(address, _POSTGRESQL_SETTINGS)
    return _sqlite(address, "rwc", _LOCK_SECONDS, _PRAGMAS)


def pruning_database(address: LedgerAddress) -> Engine:
    """For whoever deletes: never makes a file. Raises `LedgerTrouble` where there is none."""
    if address.backend is Backend.POSTGRESQL:
        return _postgresql(address, ("SET lock_timeout = '30s'",))
    _demand_file(address)
    return _sqlite(address, "rw", _LOOK_SECONDS, ("PRAGMA foreign_keys=ON",))


def reading_database(address: LedgerAddress) -> Engine:
    """For whoever only looks: never makes a file. Raises `LedgerTrouble` where there is none."""
    if address.backend is Backend.POSTGRESQL:
        return _postgresql(address, ("SET default_transaction_read_only = on",))
    _demand_file(address)
    mode = "ro" if _can_have_company(address) else "ro&immutable=1"
    return _sqlite(address, mode, _LOOK_SECONDS, ("PRAGMA query_only=ON",))


def for_writing(database: Engine) -> Engine:
    """The same database with transactions that take SQLite's write lock at their beginning.

    A transaction that reads first and wants to write later could otherwise fail half-way.
    """
    return database.execution_options(**{_BEGIN: "BEGIN IMMEDIATE"})


def _demand_file(address: LedgerAddress) -> None:
    if address.file is not None and not address.file.is_file():
        raise LedgerTrouble(Trouble.MISSING, address.shown)


def _can_have_company(address: LedgerAddress) -> bool:
    """Whether the files are there, or can be made, by which SQLite sees that others write.

    Who may only read the folder can read a ledger all the same as long as nobody writes it.
    """
    file = address.file
    if file is None or file.with_name(f"{file.name}-wal").exists():
        return True
    return os.access(file.absolute().parent, os.W_OK, effective_ids=True)


def _sqlite(
    address: LedgerAddress, mode: str, lock_seconds: float, pragmas: tuple[str, ...]
) -> Engine:
    name = f"file:{quote(str(address.file))}?mode={mode}"

    def connect() -> DBAPIConnection:
        return sqlite3.connect(name, uri=True, timeout=lock_seconds, check_same_thread=False)  # type: ignore[return-value]

    database = create_engine(
        "sqlite://", creator=connect, poolclass=QueuePool, paramstyle="named", **_ONE
    )

    @event.listens_for(database, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None
        if mode == "rwc" and not connection.execute("PRAGMA page_count").fetchone()[0]:
            # Only of use before the first table, and a write each time: room of pruned rows can
            # then be given back in steps.
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL").close()
        for pragma in pragmas:
            connection.execute(pragma).close()

    @event.listens_for(database, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get(_BEGIN, "BEGIN"))

    return database


def _postgresql(address: LedgerAddress, settings: tuple[str, ...]) -> Engine:
    database = create_engine(address.url, connect_args=_POSTGRESQL, poolclass=QueuePool, **_ONE)

    @event.listens_for(database, "connect")
    def prepare(connection: Any, _: object) -> None:
        for setting in settings:
            connection.execute(setting)
        connection.commit()

    return database


# One thread, one connection.
_ONE: Final[dict[str, Any]] = {"pool_size": 1, "max_overflow": 0}
