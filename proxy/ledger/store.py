"""An open ledger: writes batches of records and reads engine starts. Blocking; one thread's."""

import time
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, Engine, insert, select, text, update

from proxy.ledger.address import LedgerAddress
from proxy.ledger.database import for_writing, writing_database
from proxy.ledger.diagnosis import told_as_trouble
from proxy.ledger.merge import merged
from proxy.ledger.revision import bring_up_to_date
from proxy.ledger.rows import RequestRows, request_rows, start_row, stored_start
from proxy.ledger.tables import ATTEMPTS, ENGINE_STARTS, REQUESTS, VERDICTS
from proxy.ledger.trouble import LedgerTrouble, Trouble
from proxy.telemetry.engine_start import EngineStartRecord
from proxy.telemetry.record import RequestRecord

Record = RequestRecord | EngineStartRecord

# Making rows holds the interpreter lock: after so many the event loop gets its turn.
_AT_ONCE: Final = 25
_TURN_SECONDS: Final = 0.0005

# Numbers of requests that are about to be written. SQLite's transaction has the write lock.
_NEXT_NUMBERS: Final = {
    "sqlite": text(
        "WITH RECURSIVE next (number, left) AS ("
        " SELECT coalesce(max(number), 0) + 1, :count FROM requests"
        " UNION ALL SELECT number + 1, left - 1 FROM next WHERE left > 1"
        ") SELECT number FROM next"
    ),
    "postgresql": text(
        "SELECT nextval(pg_get_serial_sequence('requests', 'number'))"
        " FROM generate_series(1, :count)"
    ),
}


def open_store(address: LedgerAddress, writer: str) -> "Store":
    """Open the ledger, its tables made or upgraded. Raises `LedgerTrouble`.

    `writer` tells this run of the program from others that write to the same ledger.
    """
    with told_as_trouble(address):
        database = writing_database(address)
        try:
            bring_up_to_date(database, address)
        except BaseException:
            database.dispose()
            raise
    return Store(database, address, writer)


class Store:
    """A ledger whose tables are up to date. All methods raise `LedgerTrouble` alone."""

    def __init__(self, database: Engine, address: LedgerAddress, writer: str) -> None:
        self._database = database
        self._address = address
        self._writer = writer
        self._file = _identity(address)
        self._inserts = _Inserts(database)

    def write(self, batch: Sequence[Record]) -> None:
        """Write all records in one transaction, or none."""
        if _identity(self._address) != self._file:
            # SQLite would go on writing to a file that has no name any more.
            raise LedgerTrouble(Trouble.GONE, self._address.shown)
        starts = [record for record in batch if isinstance(record, EngineStartRecord)]
        requests = [record for record in batch if isinstance(record, RequestRecord)]
        with told_as_trouble(self._address, Trouble.REFUSED):
            rows = _rows(requests)
            with for_writing(self._database).begin() as connection:
                if starts:
                    _lock_starts(connection)
                for start in starts:
                    _write_start(connection, start, self._writer)
                if rows:
                    self._inserts.write(connection, rows)

    def newest_starts(self, lane: str, limit: int) -> list[EngineStartRecord]:
        """The last starts of a lane, the newest first."""
        newest = (
            select(ENGINE_STARTS)
            .where(ENGINE_STARTS.c.lane == lane)
            .order_by(ENGINE_STARTS.c.seen_at.desc())
            .limit(limit)
        )
        with told_as_trouble(self._address), self._database.connect() as connection:
            return [stored_start(row).record for row in connection.execute(newest).mappings()]

    def close(self) -> None:
        self._database.dispose()


def _identity(address: LedgerAddress) -> tuple[int, int] | None:
    """What tells a file from another one of the same name; None: not there, or no file."""
    try:
        found = None if address.file is None else address.file.stat()
    except OSError:
        return None
    return found and (found.st_dev, found.st_ino)


def _rows(requests: Sequence[RequestRecord]) -> list[RequestRows]:
    rows: list[RequestRows] = []
    for record in requests:
        rows.append(request_rows(record))
        if len(rows) % _AT_ONCE == 0:
            time.sleep(_TURN_SECONDS)
    return rows


class _Inserts:
    """Statements that are made once: per row, SQLAlchemy's own way takes twice the time."""

    def __init__(self, database: Engine) -> None:
        dialect = database.dialect
        self._numbers = _NEXT_NUMBERS[dialect.name]
        self._sql = {
            table: str(insert(table).compile(dialect=dialect))
            for table in (REQUESTS, ATTEMPTS, VERDICTS)
        }

    def write(self, connection: Connection, rows: Sequence[RequestRows]) -> None:
        numbers = connection.scalars(self._numbers, {"count": len(rows)}).all()
        requests, attempts, verdicts = [], [], []
        for number, row in zip(numbers, rows, strict=True):
            requests.append({"number": number, **row.request})
            attempts += [{"request": number, **attempt} for attempt in row.attempts]
            verdicts += [{"request": number, **verdict} for verdict in row.verdicts]
        for table, filled in ((REQUESTS, requests), (ATTEMPTS, attempts), (VERDICTS, verdicts)):
            if filled:
                connection.exec_driver_sql(self._sql[table], filled)


def _lock_starts(connection: Connection) -> None:
    """Two proxies may tell of one start at once; SQLite's transaction is alone already."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE engine_starts IN SHARE ROW EXCLUSIVE MODE"))


def _write_start(connection: Connection, told: EngineStartRecord, writer: str) -> None:
    new = start_row(merged(None, told, writer))
    its = (ENGINE_STARTS.c.lane == new["lane"]) & (ENGINE_STARTS.c.key == new["key"])
    stored = connection.execute(select(ENGINE_STARTS).where(its)).mappings().one_or_none()
    if stored is None:
        connection.execute(insert(ENGINE_STARTS), new)
    else:
        row = start_row(merged(stored_start(stored), told, writer))
        connection.execute(update(ENGINE_STARTS).where(its).values(row))
