"""The writer's connection: the few statements that writing takes, in either database's words.

No SQLAlchemy here: it would be half of the memory of a process that lives as long as the proxy.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from proxy.ledger.address import Backend, LedgerAddress
from proxy.ledger.connections import connect_to_write

Row = Mapping[str, Any]


class WritingConnection:
    """One connection of one thread. Names of tables and columns are our own.

    Raises what the driver raises.
    """

    def __init__(self, address: LedgerAddress) -> None:
        self._is_sqlite = address.backend is Backend.SQLITE
        self._driver = connect_to_write(address)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end of the block, or write nothing of it.

        SQLite's write lock is taken at once: a transaction that reads first and wants to write
        later could fail half-way.
        """
        self._driver.execute("BEGIN IMMEDIATE" if self._is_sqlite else "BEGIN")
        try:
            yield
            self._driver.execute("COMMIT")
        except BaseException:
            with suppress(Exception):
                self._driver.execute("ROLLBACK")
            raise

    def lock(self, table: str) -> None:
        """Be the only writer of a table until the transaction ends; in SQLite one always is."""
        if not self._is_sqlite:
            self._driver.execute(f"LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")

    def has_table(self, table: str) -> bool:
        known = (
            "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = :name"
            if self._is_sqlite
            else "SELECT count(to_regclass(%(name)s))"
        )
        return bool(self.value(known, {"name": table}))

    def value(self, sql: str, parameters: Row | None = None) -> Any:
        """The first column of the first row; None where there is no row."""
        row = self._driver.execute(sql, parameters or {}).fetchone()
        return None if row is None else row[0]

    def rows(self, table: str, where: Row, rest: str = "") -> list[dict[str, Any]]:
        """The rows whose columns equal those of `where`, by column."""
        chosen = self._equal(where, " AND ")
        cursor = self._driver.execute(f"SELECT * FROM {table} WHERE {chosen} {rest}", where)  # noqa: S608
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def insert(self, table: str, rows: Sequence[Row]) -> None:
        """Add rows of the same columns."""
        if not rows:
            return
        values = ", ".join(map(self._mark, rows[0]))
        sql = f"INSERT INTO {table} ({', '.join(rows[0])}) VALUES ({values})"  # noqa: S608
        self._driver.cursor().executemany(sql, rows)

    def update(self, table: str, row: Row, where: Row) -> None:
        changes = self._equal(row, ", ")
        sql = f"UPDATE {table} SET {changes} WHERE {self._equal(where, ' AND ')}"  # noqa: S608
        self._driver.execute(sql, {**row, **where})

    def next_numbers(self, count: int) -> Sequence[int]:
        """Numbers of requests that are about to be written, inside a transaction."""
        found = self._driver.execute(_NEXT_NUMBERS[self._is_sqlite], {"count": count}).fetchall()
        return [row[0] for row in found]

    def close(self) -> None:
        self._driver.close()

    def _mark(self, name: str) -> str:
        return f":{name}" if self._is_sqlite else f"%({name})s"

    def _equal(self, names: Row, joint: str) -> str:
        return joint.join(f"{name} = {self._mark(name)}" for name in names)


# By whether it is SQLite, whose transaction has the write lock.
_NEXT_NUMBERS: Final = {
    True: (
        "WITH RECURSIVE next (number, left) AS ("
        " SELECT coalesce(max(number), 0) + 1, :count FROM requests"
        " UNION ALL SELECT number + 1, left - 1 FROM next WHERE left > 1"
        ") SELECT number FROM next"
    ),
    False: (
        "SELECT nextval(pg_get_serial_sequence('requests', 'number'))"
        " FROM generate_series(1, %(count)s)"
    ),
}
