"""`sluicegate ledger starts`: the engine starts as a table with their rates, or as JSON."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from proxy.ledger.columns import table
from proxy.ledger.samples import Samples, is_clean, samples_of
from proxy.telemetry.engine_start import EngineStartRecord

_HEADINGS: Final = (
    *("when (UTC)", "lane", "model", "vLLM", "told by", "untouched", "ready s"),
    *("first", "fault", "retry", "cured by"),
)
_YIELDING: Final = ("lane", "model", "vLLM", "fault", "retry", "cured by")


def starts_table(starts: Sequence[EngineStartRecord], shown: str) -> Iterator[str]:
    """Lines for people: clean samples, the other starts, and the rate of each lane."""
    if not starts:
        yield f"No engine starts in {shown}."
        yield "`sluicegate serve` with this ledger notes each start of the engine that it sees; its"
        yield "first strict-JSON request, or a probe of the lane, then makes it a sample."
        return
    clean = [start for start in starts if is_clean(start)]
    others = [start for start in starts if not is_clean(start)]
    if clean:
        yield "Clean samples: untouched, first strict-JSON answer judged"
        yield from table(_HEADINGS, [_row(start) for start in clean], yielding=_YIELDING)
        yield ""
    if others:
        yield "Others, in no rate: touched before, or without a judged first answer"
        yield from table(_HEADINGS, [_row(start) for start in others], yielding=_YIELDING)
        yield ""
    for samples in samples_of(starts):
        yield from _rate_lines(samples)


def starts_json(starts: Sequence[EngineStartRecord]) -> str:
    """One document: `starts` as they are kept, and `lanes` with the rate of each."""
    document = {
        "starts": [{**msgspec.to_builtins(start), "clean": is_clean(start)} for start in starts],
        "lanes": [_lane_document(samples) for samples in samples_of(starts)],
    }
    return msgspec.json.format(msgspec.json.encode(document)).decode()


def _row(start: EngineStartRecord) -> tuple[str, ...]:
    retry = ""
    if start.retry_step:
        retry = f"{start.retry_step} {_validity(valid=start.retry_valid)}".rstrip()
    return (
        datetime.fromtimestamp(start.seen_at, UTC).strftime("%Y-%m-%d %H:%M"),
        start.lane,
        start.facts.get("model", "").rpartition("/")[2],
        start.facts.get("vllm", ""),
        start.told_by,
        "?" if start.untouched is None else ("yes" if start.untouched else "no"),
        "" if start.ready_seconds is None else f"{start.ready_seconds:.1f}",
        start.first_answer,
        start.first_fault or "",
        retry,
        start.cured_by or "",
    )


def _validity(*, valid: bool | None) -> str:
    return "" if valid is None else ("valid" if valid else "invalid")


def _rate_lines(samples: Samples) -> Iterator[str]:
    others = ""
    if samples.others:
        noun, verb = ("start", "is") if samples.others == 1 else ("starts", "are")
        others = f" {samples.others} other {noun} {verb} not counted."
    if samples.rate is None or samples.interval is None:
        yield f"{samples.lane}: no clean sample yet.{others}"
        return
    low, high = (round(100 * bound) for bound in samples.interval)
    yield (
        f"{samples.lane}: {samples.invalid} of {samples.count} first answers invalid: "
        f"{100 * samples.rate:.0f} %, 95 % interval {low}–{high} %.{others}"  # noqa: RUF001
    )
    if samples.invalid:
        yield (
            f"{samples.lane}: of {samples.invalid} invalid ones the identical retry cured "
            f"{samples.cured}; {samples.retried} had one."
        )


def _lane_document(samples: Samples) -> dict[str, Any]:
    return {
        "lane": samples.lane,
        "samples": samples.count,
        "invalid": samples.invalid,
        "rate": samples.rate,
        "interval": samples.interval,
        "retried_identically": samples.retried,
        "cured_by_identical_retry": samples.cured,
        "other_starts": samples.others,
    }
