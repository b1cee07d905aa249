"""`sluicegate ledger requests`: requests as a table, or as JSON."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from proxy.ledger.columns import table
from proxy.telemetry.record import RequestRecord

_HEADINGS: Final = (
    *("when (UTC)", "id", "outcome", "status", "policy", "attempts", "faults", "seconds"),
)
_YIELDING: Final = ("id", "policy", "attempts", "faults")


def requests_table(requests: Sequence[RequestRecord], shown: str) -> Iterator[str]:
    """Lines for people, one for each request."""
    if not requests:
        yield f"No such requests in {shown}."
        yield "Kept are requests whose policy has `record: verdicts`."
        return
    yield from table(_HEADINGS, [_row(request) for request in requests], yielding=_YIELDING)


def requests_json(requests: Sequence[RequestRecord]) -> str:
    """One document; each request as look-up tells it."""
    return msgspec.json.format(msgspec.json.encode({"requests": requests})).decode()


def _row(request: RequestRecord) -> tuple[str, ...]:
    faults = dict.fromkeys(fault for attempt in request.attempts for fault in attempt.faults)
    return (
        datetime.fromtimestamp(request.received_at, UTC).strftime("%Y-%m-%d %H:%M:%S"),
        request.id,
        request.outcome,
        str(request.status),
        request.policy or "",
        " ".join(attempt.step for attempt in request.attempts),
        " ".join(faults),
        f"{request.duration_seconds:.2f}",
    )
