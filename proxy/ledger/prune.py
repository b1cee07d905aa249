"""`sluicegate ledger prune`: removes old rows in small steps, so that a proxy can go on writing."""

import time
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Engine, delete, func, select, text

from proxy.ledger.address import LedgerAddress
from proxy.ledger.database import for_writing, pruning_database
from proxy.ledger.diagnosis import told_as_trouble
from proxy.ledger.revision import demand_present
from proxy.ledger.tables import ENGINE_STARTS, REQUESTS

_ROWS: Final = 1000
_PAGES: Final = 1000
# Between two steps, for the proxy that waits for the lock.
_PAUSE_SECONDS: Final = 0.02
_INCREMENTAL: Final = 2


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed, or would be. `freed_bytes`: of SQLite's files; None: not measured."""

    requests: int
    starts: int
    freed_bytes: int | None = None


def prune(address: LedgerAddress, before: float, *, starts: bool, dry_run: bool) -> Pruned:
    """Remove requests from before an instant, and engine starts where `starts` says so.

    The newest start of each lane stays: it may be the present one. Raises `LedgerTrouble`.
    """
    with told_as_trouble(address):
        database = pruning_database(address)
        try:
            with database.connect() as connection:
                demand_present(connection, address)
            if dry_run:
                return _count(database, before, starts=starts)
            size = _size(address)
            found = Pruned(
                _remove_requests(database, before),
                _remove_starts(database, before) if starts else 0,
            )
            _give_room_back(database)
        finally:
            database.dispose()
    freed = None if size is None else max(0, size - (_size(address) or 0))
    return Pruned(found.requests, found.starts, freed)


def _old_starts(before: float) -> ColumnElement[bool]:
    others = ENGINE_STARTS.alias()
    newest = (
        select(func.max(others.c.seen_at))
        .where(others.c.lane == ENGINE_STARTS.c.lane)
        .scalar_subquery()
    )
    return (ENGINE_STARTS.c.seen_at < before) & (ENGINE_STARTS.c.seen_at < newest)


def _count(database: Engine, before: float, *, starts: bool) -> Pruned:
    requests = select(func.count()).select_from(REQUESTS).where(REQUESTS.c.received_at < before)
    old_starts = select(func.count()).select_from(ENGINE_STARTS).where(_old_starts(before))
    with database.connect() as connection:
        return Pruned(
            connection.scalar(requests) or 0,
            (connection.scalar(old_starts) or 0) if starts else 0,
        )


def _remove_requests(database: Engine, before: float) -> int:
    """Attempts and verdicts go with their request."""
    some = select(REQUESTS.c.number).where(REQUESTS.c.received_at < before).limit(_ROWS)
    removed = 0
    while True:
        with for_writing(database).begin() as connection:
            count = connection.execute(delete(REQUESTS).where(REQUESTS.c.number.in_(some))).rowcount
        removed += count
        if not count:
            return removed
        time.sleep(_PAUSE_SECONDS)


def _remove_starts(database: Engine, before: float) -> int:
    with for_writing(database).begin() as connection:
        return connection.execute(delete(ENGINE_STARTS).where(_old_starts(before))).rowcount


def _give_room_back(database: Engine) -> None:
    """Outside of transactions. PostgreSQL keeps the room for itself and uses it again."""
    with database.connect() as connection:
        if connection.dialect.name == "postgresql":
            connection.execution_options(isolation_level="AUTOCOMMIT")
            connection.execute(text("VACUUM requests, attempts, verdicts, engine_starts"))
            return
    with closing(database.raw_connection()) as connection:
        _shrink(connection.driver_connection)


def _shrink(sqlite: Any) -> None:
    if sqlite.execute("PRAGMA auto_vacuum").fetchone()[0] != _INCREMENTAL:
        sqlite.execute("VACUUM")
    while sqlite.execute("PRAGMA freelist_count").fetchone()[0]:
        # A plain `execute` would free a single page.
        sqlite.executescript(f"PRAGMA incremental_vacuum({_PAGES})")
        time.sleep(_PAUSE_SECONDS)
    sqlite.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _size(address: LedgerAddress) -> int | None:
    if address.file is None:
        return None
    files = (address.file, address.file.with_name(f"{address.file.name}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
