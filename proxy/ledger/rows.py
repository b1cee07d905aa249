"""Records as rows of the tables, and rows of engine starts as records again.

What comes from outside is made fit to store: texts that no database takes, numbers beyond its
range.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import msgspec

from proxy.ledger.merge import StoredStart
from proxy.telemetry.engine_start import EngineStartRecord
from proxy.telemetry.record import AttemptRecord, RequestRecord, VerdictRecord

Row = dict[str, Any]
S = TypeVar("S", bound=msgspec.Struct)

_GREATEST: Final = 2**63 - 1
_GREATEST_STATUS: Final = 2**31 - 1
_CHARACTERS: Final = 1000


@dataclass(slots=True)
class RequestRows:
    """Rows of one request. Those of attempts and verdicts lack the number of their request."""

    request: Row
    attempts: list[Row] = field(default_factory=list)
    verdicts: list[Row] = field(default_factory=list)


def request_rows(record: RequestRecord) -> RequestRows:
    """The rows of one request, its attempts and their verdicts."""
    rows = RequestRows(
        {
            "id": _text(record.id),
            "received_at": record.received_at,
            "endpoint": str(record.endpoint),
            "outcome": str(record.outcome),
            "status": _status(record.status),
            "stream": record.stream,
            "policy": _text(record.policy),
            "key": _text(record.key),
            "error_code": _text(record.error_code),
            "decided_attempt": _decided_attempt(record),
            "repairs": ",".join(record.repairs),
            "unchecked": ",".join(record.unchecked),
            "duration_seconds": _finite(record.duration_seconds),
            "queue_seconds": _finite(record.queue_seconds),
            "overhead_seconds": _finite(record.overhead_seconds),
            "hold_seconds": _finite(record.hold_seconds),
            "ttfr_seconds": _finite(record.ttfr_seconds),
            "ttft_seconds": _finite(record.ttft_seconds),
            "tokens_per_second": _finite(record.tokens_per_second),
            "prompt_tokens": _count(record.prompt_tokens),
            "completion_tokens": _count(record.completion_tokens),
            "failed_attempt_tokens": _count(record.failed_attempt_tokens),
        }
    )
    for attempt in record.attempts:
        rows.attempts.append(_attempt_row(attempt))
        for position, verdict in enumerate(attempt.verdicts):
            rows.verdicts.append(_verdict_row(attempt.number, position, verdict))
    return rows


def start_row(stored: StoredStart) -> Row:
    """The row of an engine start."""
    record = stored.record
    return {
        "lane": _text(record.lane),
        "key": _text(record.key),
        "told_by": str(record.told_by),
        "seen_at": record.seen_at,
        "started_at": _finite(record.started_at),
        "ready_seconds": _finite(record.ready_seconds),
        "untouched": record.untouched,
        "woke": record.woke,
        "first_answer": str(record.first_answer),
        "first_by": _text(record.first_by),
        "first_fault": _text(record.first_fault),
        "first_writer": stored.first_writer,
        "retry_step": _text(record.retry_step),
        "retry_valid": record.retry_valid,
        "cured_by": _text(record.cured_by),
        "certified_at": _finite(record.certified_at),
        "over_at": _finite(record.over_at),
        "facts": _json({_text(name): _text(fact) for name, fact in record.facts.items()}),
    }


def stored_start(row: Mapping[Any, Any]) -> StoredStart:
    """An engine start from its row. Raises `msgspec.ValidationError` where words are unknown."""
    facts = msgspec.json.decode(row["facts"])
    flags = {name: _flag(row[name]) for name in ("untouched", "woke", "retry_valid")}
    return StoredStart(_record(EngineStartRecord, row, facts=facts, **flags), row["first_writer"])


def stored_request(
    request: Mapping[Any, Any],
    attempts: Iterable[Mapping[Any, Any]],
    verdicts: Iterable[Mapping[Any, Any]],
) -> RequestRecord:
    """A request from its rows, as look-up tells it. Raises `msgspec.ValidationError`."""
    judged: dict[int, list[VerdictRecord]] = {}
    for row in verdicts:
        warnings = msgspec.json.decode(row["warnings"])
        verdict = _record(VerdictRecord, row, warnings=warnings)
        judged.setdefault(row["attempt"], []).append(verdict)
    told = tuple(
        _record(
            AttemptRecord,
            row,
            faults=_words(row["faults"]),
            verdicts=tuple(judged.get(row["number"], ())),
        )
        for row in attempts
    )
    return _record(
        RequestRecord,
        request,
        attempts=told,
        verdicts=tuple(judged.get(request["decided_attempt"], ())),
        repairs=_words(request["repairs"]),
        unchecked=_words(request["unchecked"]),
    )


def _record(kind: type[S], row: Mapping[Any, Any], **others: object) -> S:
    """A record of the columns that bear its members' names, and of others."""
    members = {name: row[name] for name in kind.__struct_fields__ if name not in others}
    return msgspec.convert({**members, **others}, kind, from_attributes=True)


def _attempt_row(attempt: AttemptRecord) -> Row:
    return {
        "number": attempt.number,
        "step": str(attempt.step),
        "result": str(attempt.result),
        "status": _status(attempt.status),
        "cold": attempt.cold,
        "sample": _text(attempt.sample),
        "seconds": _finite(attempt.seconds),
        "faults": ",".join(_each_once(attempt.faults)),
        "ttfr_seconds": _finite(attempt.ttfr_seconds),
        "completion_tokens": _count(attempt.completion_tokens),
    }


def _verdict_row(attempt: int, position: int, verdict: VerdictRecord) -> Row:
    return {
        "attempt": attempt,
        "position": position,
        "gate": _text(verdict.gate),
        "result": str(verdict.result),
        "enforced": verdict.enforced,
        "seconds": _finite(verdict.seconds),
        "fault": _text(verdict.fault),
        "place": _text(verdict.place),
        "warnings": _json([_text(warning) for warning in verdict.warnings]),
    }


def _decided_attempt(record: RequestRecord) -> int | None:
    for attempt in reversed(record.attempts):
        if record.verdicts and attempt.verdicts == record.verdicts:
            return attempt.number
    return None


def _flag(value: object) -> object:
    """SQLite's driver tells a truth value as a number."""
    return bool(value) if value in (0, 1) else value


def _words(text: str) -> list[str]:
    return text.split(",") if text else []


def _each_once(words: Sequence[str]) -> Iterable[str]:
    return dict.fromkeys(words)


def _text(text: str | None) -> str | None:
    """A text that any database takes: no NUL, no lone surrogate, of bounded length."""
    if text is None:
        return None
    if not text.isprintable():
        text = text.encode("utf-8", "replace").decode().replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return str(text[:_CHARACTERS])


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _count(value: int | None) -> int | None:
    return None if value is None else max(-_GREATEST, min(value, _GREATEST))


def _status(value: int) -> int:
    return max(0, min(value, _GREATEST_STATUS))


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
