import json
import time
from typing import Any

from proxy.errors import Fault
from proxy.ledger.address import LedgerAddress
from proxy.ledger.command import remove_old, show_requests, show_starts
from tests.fakes.ledgers import store_at
from tests.fakes.records import attempt_record, clean_start, request_record, start_record

DAY = 86_400.0


def requests(address: LedgerAddress, **more: Any) -> str:
    options: dict[str, Any] = {
        "outcome": None,
        "policy": None,
        "fault": None,
        "since_seconds": None,
        "limit": 50,
        "as_json": False,
        **more,
    }
    return "\n".join(show_requests(address, **options))


def starts(address: LedgerAddress, **more: Any) -> str:
    options: dict[str, Any] = {"lane": None, "since_seconds": None, "as_json": False, **more}
    return "\n".join(show_starts(address, **options))


def filled(address: LedgerAddress) -> LedgerAddress:
    now = time.time()
    store = store_at(address)
    store.write(
        [
            request_record("old", received_at=now - 9 * DAY),
            request_record(
                "new", received_at=now - 60, attempts=(attempt_record(1, Fault.NOT_JSON),)
            ),
            clean_start("1", "not_json", seen_at=now - 9 * DAY),
            start_record("2", seen_at=now - 60),
        ]
    )
    store.close()
    return address


def test_requests_are_a_table_or_a_document(address: LedgerAddress) -> None:
    filled(address)

    assert "not_json" in requests(address)
    assert "old" not in requests(address, since_seconds=DAY)
    found = json.loads(requests(address, fault="not_json", as_json=True))["requests"]
    assert [request["id"] for request in found] == ["new"]


def test_starts_are_a_table_with_their_rate_or_a_document(address: LedgerAddress) -> None:
    filled(address)

    assert "1 of 1 first answers invalid: 100 %" in starts(address)
    assert "no clean sample yet" in starts(address, since_seconds=DAY)
    assert len(json.loads(starts(address, as_json=True))["starts"]) == 2
    assert starts(address, lane="other").startswith("No engine starts")


def test_pruning_says_what_it_would_remove_and_what_it_removed(sqlite: LedgerAddress) -> None:
    filled(sqlite)

    dry = list(remove_old(sqlite, older_than_seconds=DAY, starts=True, dry_run=True))
    done = list(remove_old(sqlite, older_than_seconds=DAY, starts=True, dry_run=False))

    assert dry[0].startswith("Would remove 1 requests and 1 engine starts from before 20")
    assert done[0].startswith("Removed 1 requests and 1 engine starts from before 20")
    assert "KiB" in done[1]
    assert len(dry) == 1


def test_pruning_leaves_the_room_to_postgresql(address: LedgerAddress) -> None:
    filled(address)

    lines = list(remove_old(address, older_than_seconds=DAY, starts=False, dry_run=False))

    assert lines[0].startswith("Removed 1 requests from before 20")
    assert ("KiB" in lines[1]) == (address.file is not None)
    assert ("PostgreSQL" in lines[1]) == (address.file is None)
