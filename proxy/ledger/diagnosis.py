"""From what a database driver raises to what is wrong with the ledger."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from sqlalchemy.exc import DataError, DBAPIError, ProgrammingError

from proxy.ledger.address import LedgerAddress
from proxy.ledger.trouble import LedgerTrouble, Trouble

_SHOWN_CHARACTERS: Final = 200
# By the beginning of SQLite's name of a result: the extended ones go on after it.
_SQLITE: Final = {
    "SQLITE_BUSY": Trouble.LOCKED,
    "SQLITE_LOCKED": Trouble.LOCKED,
    "SQLITE_PROTOCOL": Trouble.LOCKED,
    "SQLITE_CORRUPT": Trouble.CORRUPT,
    "SQLITE_NOTADB": Trouble.NO_DATABASE,
    "SQLITE_FULL": Trouble.FULL,
    "SQLITE_READONLY": Trouble.READ_ONLY,
    "SQLITE_PERM": Trouble.READ_ONLY,
    "SQLITE_AUTH": Trouble.READ_ONLY,
    "SQLITE_CONSTRAINT": Trouble.REFUSED,
    "SQLITE_MISMATCH": Trouble.REFUSED,
    "SQLITE_TOOBIG": Trouble.REFUSED,
}
# By SQLSTATE or the class it begins with, the longer first.
_POSTGRESQL: Final = {
    "53100": Trouble.FULL,
    "55P03": Trouble.LOCKED,
    "57014": Trouble.LOCKED,
    "40P01": Trouble.LOCKED,
    "40001": Trouble.LOCKED,
    "42501": Trouble.READ_ONLY,
    "25006": Trouble.READ_ONLY,
    "XX001": Trouble.CORRUPT,
    "XX002": Trouble.CORRUPT,
    "22": Trouble.REFUSED,
    "23": Trouble.REFUSED,
    "42": Trouble.BROKEN,
}


@contextmanager
def told_as_trouble(address: LedgerAddress, otherwise: Trouble = Trouble.BROKEN) -> Iterator[None]:
    """What is raised inside comes out as `LedgerTrouble`; `otherwise` where nobody knows why."""
    try:
        yield
    except LedgerTrouble:
        raise
    except DBAPIError as error:
        kind = _kind_of(error, address)
        raise LedgerTrouble(kind, address.shown, _detail(error.orig, address)) from error
    except sqlite3.Error as error:
        raise LedgerTrouble(_of_sqlite(error, address), address.shown, str(error)) from error
    except Exception as error:
        # Drivers raise anything for a value that they cannot write; alembic has errors of its own.
        raise LedgerTrouble(otherwise, address.shown, _detail(error, address)) from error


def _kind_of(error: DBAPIError, address: LedgerAddress) -> Trouble:
    if isinstance(error.orig, sqlite3.Error):
        return _of_sqlite(error.orig, address)
    return _of_postgresql(error)


def _of_sqlite(error: sqlite3.Error, address: LedgerAddress) -> Trouble:
    name: str = getattr(error, "sqlite_errorname", "")
    for beginning, kind in _SQLITE.items():
        if name.startswith(beginning):
            return kind
    if address.file is None:
        return Trouble.BROKEN
    folder = address.file.absolute().parent
    if not folder.is_dir():
        return Trouble.NO_FOLDER
    if name.startswith("SQLITE_CANTOPEN") and not address.file.is_dir():
        return Trouble.READ_ONLY
    if name.startswith("SQLITE_IOERR") and not _has_room(folder):
        return Trouble.FULL
    # The driver's own refusals, such as a number beyond 64 bits, have no name.
    return Trouble.BROKEN if name else Trouble.REFUSED


def _has_room(folder: Path) -> bool:
    with suppress(OSError):
        return shutil.disk_usage(folder).free > 0
    return True


def _of_postgresql(error: DBAPIError) -> Trouble:
    state: str = getattr(error.orig, "sqlstate", None) or ""
    for beginning, kind in _POSTGRESQL.items():
        if state.startswith(beginning):
            return kind
    # Without a state the server was not asked: it is away, or the driver refused a value.
    refused = not state and isinstance(error, DataError | ProgrammingError)
    return Trouble.REFUSED if refused else Trouble.UNREACHABLE


def _detail(error: BaseException | None, address: LedgerAddress) -> str:
    """The first line of what the driver says; further lines quote statements and rows."""
    line = str(error).strip().partition("\n")[0]
    return address.scrub(line)[:_SHOWN_CHARACTERS]
