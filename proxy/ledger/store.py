"""An open ledger: writes batches of records and reads engine starts. Blocking; one thread's."""

from collections.abc import Callable, Sequence

from proxy.ledger.address import LedgerAddress
from proxy.ledger.diagnosis import told_as_trouble
from proxy.ledger.merge import merged
from proxy.ledger.rows import request_rows, start_row, stored_start
from proxy.ledger.trouble import LedgerTrouble, Trouble
from proxy.ledger.version import HEAD, VERSION_TABLE, refuse_newer
from proxy.ledger.writing_connection import WritingConnection
from proxy.telemetry.engine_start import EngineStartRecord
from proxy.telemetry.record import RequestRecord

Record = RequestRecord | EngineStartRecord
_STARTS = "engine_starts"


def open_store(
    address: LedgerAddress, writer: str, upgrade: Callable[[LedgerAddress], None]
) -> "Store":
    """Open the ledger; `upgrade` makes its tables or brings them up to date where that is due.

    `writer` tells this run of the program from others that write to the same ledger. Raises
    `LedgerTrouble`.
    """
    with told_as_trouble(address):
        connection = WritingConnection(address)
        try:
            if not _is_up_to_date(connection, address):
                upgrade(address)
        except BaseException:
            connection.close()
            raise
    return Store(connection, address, writer)


class Store:
    """A ledger whose tables are up to date. All methods raise `LedgerTrouble` alone."""

    def __init__(self, connection: WritingConnection, address: LedgerAddress, writer: str) -> None:
        self._connection = connection
        self._address = address
        self._writer = writer
        self._file = _identity(address)

    def write(self, batch: Sequence[Record]) -> None:
        """Write all records in one transaction, or none."""
        if _identity(self._address) != self._file:
            # SQLite would go on writing to a file that has no name any more.
            raise LedgerTrouble(Trouble.GONE, self._address.shown)
        starts = [record for record in batch if isinstance(record, EngineStartRecord)]
        requests = [record for record in batch if isinstance(record, RequestRecord)]
        with told_as_trouble(self._address, Trouble.REFUSED), self._connection.transaction():
            if starts:
                # Two proxies may tell of one start at once.
                self._connection.lock(_STARTS)
            for start in starts:
                self._write_start(start)
            if requests:
                self._write_requests(requests)

    def newest_starts(self, lane: str, limit: int) -> list[EngineStartRecord]:
        """The last starts of a lane, the newest first."""
        newest = f"ORDER BY seen_at DESC LIMIT {limit:d}"
        with told_as_trouble(self._address):
            rows = self._connection.rows(_STARTS, {"lane": lane}, newest)
            return [stored_start(row).record for row in rows]

    def close(self) -> None:
        self._connection.close()

    def _write_requests(self, requests: Sequence[RequestRecord]) -> None:
        numbers = self._connection.next_numbers(len(requests))
        rows, attempts, verdicts = [], [], []
        for number, record in zip(numbers, requests, strict=True):
            its = request_rows(record)
            rows.append({"number": number, **its.request})
            attempts += [{"request": number, **attempt} for attempt in its.attempts]
            verdicts += [{"request": number, **verdict} for verdict in its.verdicts]
        self._connection.insert("requests", rows)
        self._connection.insert("attempts", attempts)
        self._connection.insert("verdicts", verdicts)

    def _write_start(self, told: EngineStartRecord) -> None:
        new = start_row(merged(None, told, self._writer))
        its = {"lane": new["lane"], "key": new["key"]}
        stored = self._connection.rows(_STARTS, its)
        if not stored:
            self._connection.insert(_STARTS, [new])
        else:
            grown = start_row(merged(stored_start(stored[0]), told, self._writer))
            self._connection.update(_STARTS, grown, its)


def _is_up_to_date(connection: WritingConnection, address: LedgerAddress) -> bool:
    """Raises `LedgerTrouble` for tables that a newer program made."""
    if not connection.has_table(VERSION_TABLE):
        return False
    revision = connection.value(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 - our own name
    if revision is None:
        return False
    refuse_newer(str(revision), address)
    return bool(revision == HEAD)


def _identity(address: LedgerAddress) -> tuple[int, int] | None:
    """What tells a file from another one of the same name; None: not there, or no file."""
    try:
        found = None if address.file is None else address.file.stat()
    except OSError:
        return None
    return found and (found.st_dev, found.st_ino)
