"""One engine start as several tellers know it: what a new report adds to what is stored.

Proxies before the same engine share a row, and a restarted proxy goes on with the row of its last
run. A known fact is never replaced by an unknown one. What belongs to the first answer is one
group, told by whoever saw that answer first: another proxy's first answer is not the engine's.
"""

from dataclasses import dataclass
from typing import TypeVar

import msgspec

from proxy.telemetry.engine_start import EngineStartRecord, FirstAnswer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredStart:
    """A row of engine starts. `first_writer`: who told its first answer, None: nobody yet."""

    record: EngineStartRecord
    first_writer: str | None = None


def merged(stored: StoredStart | None, told: EngineStartRecord, writer: str) -> StoredStart:
    """What is stored after `writer` told of a start."""
    knows_answer = told.first_answer is not FirstAnswer.UNKNOWN
    if stored is None:
        return StoredStart(told, writer if knows_answer else None)
    old = stored.record
    record = msgspec.structs.replace(
        old,
        seen_at=min(old.seen_at, told.seen_at),
        started_at=_known(old.started_at, told.started_at),
        ready_seconds=_known(old.ready_seconds, told.ready_seconds),
        woke=old.woke or told.woke,
        certified_at=_known(old.certified_at, told.certified_at),
        over_at=_known(old.over_at, told.over_at),
        facts={**old.facts, **told.facts},
    )
    if old.first_answer is FirstAnswer.UNKNOWN:
        return StoredStart(_with_answer(record, told), writer if knows_answer else None)
    if stored.first_writer == writer:
        return StoredStart(_with_retry(record, told), writer)
    return StoredStart(record, stored.first_writer)


def _with_answer(record: EngineStartRecord, told: EngineStartRecord) -> EngineStartRecord:
    """With the first answer as told, and with `untouched` as it was when that was asked for."""
    return msgspec.structs.replace(
        record,
        untouched=_known(told.untouched, record.untouched),
        first_answer=told.first_answer,
        first_by=told.first_by,
        first_fault=told.first_fault,
        retry_step=told.retry_step,
        retry_valid=told.retry_valid,
        cured_by=told.cured_by,
    )


def _with_retry(record: EngineStartRecord, told: EngineStartRecord) -> EngineStartRecord:
    return msgspec.structs.replace(
        record,
        untouched=_known(record.untouched, told.untouched),
        retry_step=_known(record.retry_step, told.retry_step),
        retry_valid=_known(record.retry_valid, told.retry_valid),
        cured_by=_known(record.cured_by, told.cured_by),
    )


def _known(first: T | None, second: T | None) -> T | None:
    return second if first is None else first
