"""The commands `sluicegate ledger …`: what they print, line by line."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

from proxy.ledger.address import Backend, LedgerAddress
from proxy.ledger.prune import prune
from proxy.ledger.queries import RequestFilter, read_requests, read_starts
from proxy.ledger.requests_report import requests_json, requests_table
from proxy.ledger.starts_report import starts_json, starts_table


def show_starts(
    address: LedgerAddress, *, lane: str | None, since_seconds: float | None, as_json: bool
) -> Iterator[str]:
    """Engine starts with their rates. Raises `LedgerTrouble`."""
    starts = read_starts(address, lane, _since(since_seconds))
    if as_json:
        yield starts_json(starts)
    else:
        yield from starts_table(starts, address.shown)


def show_requests(
    address: LedgerAddress,
    *,
    outcome: str | None,
    policy: str | None,
    fault: str | None,
    since_seconds: float | None,
    limit: int,
    as_json: bool,
) -> Iterator[str]:
    """The last requests that fit. Raises `LedgerTrouble`."""
    wanted = RequestFilter(outcome, policy, fault, _since(since_seconds), limit)
    requests = read_requests(address, wanted)
    if as_json:
        yield requests_json(requests)
    else:
        yield from requests_table(requests, address.shown)


def remove_old(
    address: LedgerAddress, *, older_than_seconds: float, starts: bool, dry_run: bool
) -> Iterator[str]:
    """Prune, and say what was removed. Raises `LedgerTrouble`."""
    before = time.time() - older_than_seconds
    pruned = prune(address, before, starts=starts, dry_run=dry_run)
    until = datetime.fromtimestamp(before, UTC).strftime("%Y-%m-%d %H:%M UTC")
    kinds = f"{pruned.requests} requests"
    if starts:
        kinds += f" and {pruned.starts} engine starts"
    yield f"{'Would remove' if dry_run else 'Removed'} {kinds} from before {until}."
    if pruned.freed_bytes is not None:
        yield f"{pruned.freed_bytes / 1024:.0f} KiB of {address.shown} are free again."
    elif address.backend is Backend.POSTGRESQL and not dry_run:
        yield "PostgreSQL keeps their room for new rows."


def _since(seconds: float | None) -> float | None:
    return None if seconds is None else time.time() - seconds
