"""From what a database driver raises to what is wrong with the ledger."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

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
# The names that PEP 249 gives to errors of what is to be written.
_OF_VALUES: Final = frozenset({"DataError", "ProgrammingError"})


@contextmanager
def told_as_trouble(address: LedgerAddress, otherwise: Trouble = Trouble.BROKEN) -> Iterator[None]:
    """What is raised inside comes out as `LedgerTrouble`; `otherwise` where nobody knows why."""
    try:
        yield
    except LedgerTrouble:
        raise
    except Exception as error:
        # Drivers raise anything for a value that they cannot write; alembic has errors of its own.
        raised = _of_the_driver(error)
        kind = _kind_of(raised, error, address) or otherwise
        raise LedgerTrouble(kind, address.shown, _detail(raised, address)) from error


def _of_the_driver(error: Exception) -> Exception:
    """What SQLAlchemy, which is not imported here, wraps; anything else as it is."""
    wrapped = getattr(error, "orig", None)
    return wrapped if isinstance(wrapped, Exception) else error


def _kind_of(raised: Exception, error: Exception, address: LedgerAddress) -> Trouble | None:
    if isinstance(raised, sqlite3.Error):
        return _of_sqlite(raised, address)
    if raised is not error or hasattr(raised, "sqlstate"):
        return _of_postgresql(raised, error)
    return None


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


def _of_postgresql(raised: Exception, error: Exception) -> Trouble:
    state: str = getattr(raised, "sqlstate", None) or ""
    for beginning, kind in _POSTGRESQL.items():
        if state.startswith(beginning):
            return kind
    # Without a state the server was not asked: it is away, or the driver refused a value.
    names = {kind.__name__ for kind in type(error).__mro__}
    return Trouble.UNREACHABLE if state or not names & _OF_VALUES else Trouble.REFUSED


def _detail(error: Exception, address: LedgerAddress) -> str:
    """The first line of what the driver says; further lines quote statements and rows."""
    line = str(error).strip().partition("\n")[0]
    return address.scrub(line)[:_SHOWN_CHARACTERS]
