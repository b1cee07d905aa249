"""The ledger's database through SQLAlchemy: to upgrade it, to look at it, to prune it."""

import os
from collections.abc import Callable
from typing import Any, Final

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event

from proxy.ledger.address import Backend, LedgerAddress
from proxy.ledger.connections import (
    POSTGRESQL_OPTIONS,
    POSTGRESQL_SETTINGS,
    connect_sqlite,
    connect_to_write,
)
from proxy.ledger.trouble import LedgerTrouble, Trouble

# A reader of the command line has more patience.
_LOOK_SECONDS: Final = 5.0
_BEGIN: Final = "ledger_begin"


def writing_database(address: LedgerAddress) -> Engine:
    """For whoever upgrades: makes a SQLite file that is not there. Nothing is connected yet."""
    if address.backend is Backend.POSTGRESQL:
        return _postgresql(address, POSTGRESQL_SETTINGS)
    return _database(lambda: connect_to_write(address))


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
    return _database(lambda: connect_sqlite(address, mode, lock_seconds, pragmas))


def _database(connect: Callable[[], Any]) -> Engine:
    """SQLite through SQLAlchemy, which leaves the beginning of a transaction to us."""
    database = create_engine("sqlite://", creator=connect, poolclass=QueuePool, **_ONE)

    @event.listens_for(database, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get(_BEGIN, "BEGIN"))

    return database


def _postgresql(address: LedgerAddress, settings: tuple[str, ...]) -> Engine:
    database = create_engine(
        address.url, connect_args=POSTGRESQL_OPTIONS, poolclass=QueuePool, **_ONE
    )

    @event.listens_for(database, "connect")
    def prepare(connection: Any, _: object) -> None:
        for setting in settings:
            connection.execute(setting)
        connection.commit()

    return database


# One thread, one connection.
_ONE: Final[dict[str, Any]] = {"pool_size": 1, "max_overflow": 0}
