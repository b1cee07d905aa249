"""Makes the record of an engine start: told by counters, woken, remembered, or by the fallback."""

from dataclasses import dataclass

import msgspec

from proxy.telemetry.engine_start import EngineStartRecord, FirstAnswer, StartSource
from proxy.upstream.counters import Counters


@dataclass(frozen=True, slots=True)
class Arrival:
    """How a start came into sight, in Unix seconds.

    `alive_at`: its first answer after a time in which it was seen to be away. `own_work`: we had
    sent it requests before we first looked.
    """

    lane: str
    seen_at: float
    alive_at: float | None = None
    own_work: bool = False


def by_fallback(arrival: Arrival) -> EngineStartRecord:
    """The key is the instant, which no other run of the proxy can repeat."""
    key = f"seen-{arrival.seen_at:.6f}"
    return EngineStartRecord(arrival.lane, key, StartSource.FALLBACK, arrival.seen_at)


def by_counters(arrival: Arrival, counters: Counters) -> EngineStartRecord:
    return EngineStartRecord(
        lane=arrival.lane,
        key=repr(counters.started_at),
        told_by=StartSource.METRICS,
        seen_at=arrival.seen_at,
        started_at=counters.started_at,
        ready_seconds=_seconds_between(counters.started_at, arrival.alive_at),
        untouched=_untouched(arrival, was=0.0, work=counters.work),
    )


def by_waking(arrival: Arrival, slept: Counters, counters: Counters) -> EngineStartRecord:
    """A process that loads its weights anew. `slept`: what was last seen of it asleep."""
    return EngineStartRecord(
        lane=arrival.lane,
        key=f"{counters.started_at!r}/wake-{arrival.seen_at:.3f}",
        told_by=StartSource.METRICS,
        seen_at=arrival.seen_at,
        started_at=counters.started_at,
        untouched=_untouched(arrival, was=slept.work, work=counters.work),
        woke=True,
    )


def taken_over(known: EngineStartRecord, counters: Counters) -> EngineStartRecord:
    """A start that an earlier run of the proxy knew.

    Whether work it did meanwhile was strict JSON cannot be seen, so it is a clean sample no more.
    """
    worked = known.first_answer is FirstAnswer.UNKNOWN and counters.touched
    untouched = False if worked else known.untouched
    return msgspec.structs.replace(known, over_at=None, untouched=untouched)


def _untouched(arrival: Arrival, *, was: float, work: float) -> bool | None:
    """None where the work may be our own."""
    if work == was:
        return True
    return None if arrival.own_work else False


def _seconds_between(started_at: float, alive_at: float | None) -> float | None:
    """None where it is not known, or the clocks of two machines disagree."""
    return None if alive_at is None or alive_at < started_at else alive_at - started_at
