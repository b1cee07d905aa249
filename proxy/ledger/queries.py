"""What the ledger's commands read. Only looks: no file and no table is made."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, Table, exists, or_, select

from proxy.ledger.address import LedgerAddress
from proxy.ledger.database import reading_database
from proxy.ledger.diagnosis import told_as_trouble
from proxy.ledger.revision import demand_present
from proxy.ledger.rows import stored_request, stored_start
from proxy.ledger.tables import ATTEMPTS, ENGINE_STARTS, REQUESTS, VERDICTS
from proxy.telemetry.engine_start import EngineStartRecord
from proxy.telemetry.record import RequestRecord

# SQLite bounds the parameters of a statement.
_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class RequestFilter:
    """Which requests; None: any. `policy` is a name, or name@hash. `since`: Unix seconds."""

    outcome: str | None = None
    policy: str | None = None
    fault: str | None = None
    since: float | None = None
    limit: int = 50


def read_starts(
    address: LedgerAddress, lane: str | None = None, since: float | None = None
) -> list[EngineStartRecord]:
    """Engine starts, the oldest first. Raises `LedgerTrouble`."""
    chosen = select(ENGINE_STARTS).order_by(ENGINE_STARTS.c.seen_at)
    if lane is not None:
        chosen = chosen.where(ENGINE_STARTS.c.lane == lane)
    if since is not None:
        chosen = chosen.where(ENGINE_STARTS.c.seen_at >= since)
    with _looking(address) as connection:
        return [stored_start(row).record for row in connection.execute(chosen).mappings()]


def read_requests(address: LedgerAddress, wanted: RequestFilter) -> list[RequestRecord]:
    """The last requests that fit, the oldest first. Raises `LedgerTrouble`."""
    order = (REQUESTS.c.received_at.desc(), REQUESTS.c.number.desc())
    newest = _fitting(wanted).order_by(*order).limit(wanted.limit)
    with _looking(address) as connection:
        requests = connection.execute(newest).mappings().all()[::-1]
        numbers = [request["number"] for request in requests]
        attempts = _by_request(connection, ATTEMPTS, numbers)
        verdicts = _by_request(connection, VERDICTS, numbers)
        return [
            stored_request(request, attempts[request["number"]], verdicts[request["number"]])
            for request in requests
        ]


def _by_request(
    connection: Connection, table: Table, numbers: Sequence[int]
) -> Mapping[int, Sequence[RowMapping]]:
    """The rows of a child table for each request, in the order of their key."""
    found: dict[int, list[RowMapping]] = {number: [] for number in numbers}
    for first in range(0, len(numbers), _AT_ONCE):
        some = numbers[first : first + _AT_ONCE]
        rows = select(table).where(table.c.request.in_(some)).order_by(*table.primary_key)
        for row in connection.execute(rows).mappings():
            found[row["request"]].append(row)
    return found


@contextmanager
def _looking(address: LedgerAddress) -> Iterator[Connection]:
    with told_as_trouble(address):
        database = reading_database(address)
        try:
            with database.connect() as connection:
                demand_present(connection, address)
                yield connection
        finally:
            database.dispose()


def _fitting(wanted: RequestFilter) -> Select[Any]:
    chosen = select(REQUESTS)
    if wanted.outcome is not None:
        chosen = chosen.where(REQUESTS.c.outcome == wanted.outcome)
    if wanted.policy is not None:
        named = REQUESTS.c.policy.startswith(f"{wanted.policy}@", autoescape=True)
        chosen = chosen.where(or_(REQUESTS.c.policy == wanted.policy, named))
    if wanted.since is not None:
        chosen = chosen.where(REQUESTS.c.received_at >= wanted.since)
    if wanted.fault is not None:
        its = ATTEMPTS.c.request == REQUESTS.c.number
        chosen = chosen.where(exists().where(its, _has_fault(wanted.fault)))
    return chosen


def _has_fault(fault: str) -> ColumnElement[bool]:
    return ("," + ATTEMPTS.c.faults + ",").contains(f",{fault},", autoescape=True)
