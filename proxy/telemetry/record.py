"""The record of one request: what metrics, log line, look-up and ledger are written from.

It never holds prompt or reply text. Structs of msgspec, since every request makes some: what says
nothing is left out when they are written.
"""

from collections import OrderedDict
from typing import Protocol

import msgspec

from proxy.telemetry.engine_start import SampleRole
from proxy.telemetry.outcome import AttemptResult, AttemptStep, Endpoint, Outcome, Unchecked


class VerdictRecord(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One gate's verdict on the delivered (or last) attempt; `seconds` is the gate's own time.

    `warnings` name what is wrong with the request, such as broken calls in its history.
    """

    gate: str
    result: str
    enforced: bool
    seconds: float
    fault: str | None = None
    place: str = ""
    warnings: tuple[str, ...] = ()


class AttemptRecord(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One upstream call. `cold`: the engine was not certified at dispatch. Times in seconds.

    `sample`: what its answer was to the sample of its engine start; None: nothing.
    """

    number: int
    step: AttemptStep
    result: AttemptResult
    status: int
    cold: bool
    seconds: float
    faults: tuple[str, ...] = ()
    ttfr_seconds: float | None = None
    completion_tokens: int | None = None
    verdicts: tuple[VerdictRecord, ...] = ()
    sample: SampleRole | None = None


class RequestRecord(
    msgspec.Struct, frozen=True, omit_defaults=True, gc=False, tag_field="event", tag="request"
):
    """One request from arrival to end. Times in seconds, `received_at` is Unix time.

    `hold_seconds`: delivered minus upstream first response; None where nothing was held.
    `overhead_seconds`: our own time, waiting for the upstream and for admission excluded.
    """

    id: str
    received_at: float
    endpoint: Endpoint
    outcome: Outcome
    status: int
    stream: bool = False
    policy: str | None = None
    key: str | None = None
    error_code: str | None = None
    attempts: tuple[AttemptRecord, ...] = ()
    verdicts: tuple[VerdictRecord, ...] = ()
    repairs: tuple[str, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    duration_seconds: float = 0.0
    queue_seconds: float = 0.0
    overhead_seconds: float = 0.0
    hold_seconds: float | None = None
    ttfr_seconds: float | None = None
    ttft_seconds: float | None = None
    tokens_per_second: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    failed_attempt_tokens: int = 0


class RecordSink(Protocol):
    """Takes the record of every finished request; must neither block nor raise."""

    def add(self, record: RequestRecord) -> None: ...


class RecentRequests:
    """The last requests in memory, by id, for look-up on the admin listener."""

    def __init__(self, limit: int = 1000) -> None:
        self._limit = limit
        self._records: OrderedDict[str, RequestRecord] = OrderedDict()

    def add(self, record: RequestRecord) -> None:
        self._records[record.id] = record
        self._records.move_to_end(record.id)
        if len(self._records) > self._limit:
            self._records.popitem(last=False)

    def get(self, request_id: str) -> RequestRecord | None:
        return self._records.get(request_id)
