"""How the drivers connect to the ledger's database; no database library beside them is imported.

Every connection commits by itself: whoever wants a transaction begins one.
"""

import sqlite3
from typing import Any, Final
from urllib.parse import quote

from proxy.ledger.address import Backend, LedgerAddress

# How long SQLite waits for another program's lock; the writer goes on trying by itself.
_LOCK_SECONDS: Final = 0.5
_PRAGMAS: Final = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA foreign_keys=ON",
)
# A PostgreSQL that hangs must not hold the writer for ever.
POSTGRESQL_OPTIONS: Final[dict[str, Any]] = {
    "application_name": "sluicegate",
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
POSTGRESQL_SETTINGS: Final = (
    "SET statement_timeout = '10s'",
    "SET lock_timeout = '5s'",
    "SET idle_in_transaction_session_timeout = '60s'",
)


def connect_to_write(address: LedgerAddress) -> Any:
    """A driver's connection for the writer: makes a SQLite file that is not there."""
    if address.backend is Backend.POSTGRESQL:
        return _connect_postgresql(address)
    return connect_sqlite(address, "rwc", _LOCK_SECONDS, _PRAGMAS)


def connect_sqlite(
    address: LedgerAddress, mode: str, lock_seconds: float, pragmas: tuple[str, ...]
) -> sqlite3.Connection:
    """`mode` as SQLite's URIs have it; a new file can give back the room of pruned rows."""
    name = f"file:{quote(str(address.file))}?mode={mode}"
    connection = sqlite3.connect(
        name, uri=True, timeout=lock_seconds, check_same_thread=False, isolation_level=None
    )
    try:
        if mode == "rwc" and not connection.execute("PRAGMA page_count").fetchone()[0]:
            # Only of use before the first table, and a write each time.
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL").close()
        for pragma in pragmas:
            connection.execute(pragma).close()
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_postgresql(address: LedgerAddress) -> Any:
    # The driver is an extra, and takes long to import.
    import psycopg  # noqa: PLC0415

    url = address.url.replace("postgresql+psycopg:", "postgresql:", 1)
    connection = psycopg.connect(url, autocommit=True, **POSTGRESQL_OPTIONS)
    for setting in POSTGRESQL_SETTINGS:
        connection.execute(setting)
    return connection
