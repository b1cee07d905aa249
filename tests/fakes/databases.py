"""What other programs and bad disks do to a ledger's file."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine

_NOBODY = 65534
_LOCKER = """\
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute(sys.argv[2])
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def locked_by_another_process(file: Path, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    """Hold a lock in a process of its own until the block ends."""
    command = (sys.executable, "-c", _LOCKER, str(file), begin)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "locked\n"
        yield
        process.communicate()


@contextmanager
def without_rights_of_root() -> Iterator[None]:
    """Root may write everything; who else runs the tests loses nothing."""
    if os.geteuid():
        yield
        return
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def connected(database: Engine) -> Iterator[Connection]:
    """A transaction that is committed, and the database closed after it."""
    try:
        with database.begin() as connection:
            yield connection
    finally:
        database.dispose()


def rows_of(file: Path, sql: str) -> list[tuple[Any, ...]]:
    """What a plain SQLite client reads."""
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(sql).fetchall()


def run_on(file: Path, sql: str) -> None:
    """What another program does to the file."""
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(sql)
