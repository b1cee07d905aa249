"""What is known of the engine behind a lane: reachable, loading, cold or certified.

*Cold* is our own knowledge, not the engine's: no strict-JSON answer of this engine start has been
validated yet. The engine's counters only tell one start from the next.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

import msgspec

from proxy.telemetry.engine_start import (
    AskedBy,
    EngineStartRecord,
    FirstAnswer,
    SampleRole,
    StartSink,
    StartSource,
)
from proxy.upstream.counters import Counters
from proxy.upstream.sample import Answer, Dispatch, EngineStart, Sample, with_answer
from proxy.upstream.start_records import Arrival, by_counters, by_fallback, by_waking, taken_over
from proxy.upstream.start_times import Seen, StartTimes

_NO_STARTS: Final[Mapping[str, EngineStartRecord]] = MappingProxyType({})
# Answers of more requests than that, between an outage and the next look, are not waited for.
_HELD_BACK: Final = 256


class EngineState(StrEnum):
    """State of the engine behind a lane, also a metric label."""

    UNREACHABLE = "unreachable"
    LOADING = "loading"
    COLD = "cold"
    CERTIFIED = "certified"


class Engine:
    """State of one lane's engine. Fed by the poller and by every call; read at dispatch.

    Where counters are missing, or start times alternate because several replicas share the
    address, the fallback counts: a new engine start after the proxy's own start and after every
    period in which the upstream could not be reached.

    After an outage the next look tells whether this is a new start. Until then the engine counts
    as cold, and what is answered is held back, so that it is written of the start it belongs to.
    """

    def __init__(
        self,
        lane: str,
        sink: StartSink,
        unix: Callable[[], float],
        remembered: Mapping[str, EngineStartRecord] = _NO_STARTS,
    ) -> None:
        """`remembered`: what is known of this lane's starts, by key; `unix`: Unix seconds."""
        self._lane = lane
        self._sink = sink
        self._unix = unix
        self._remembered = {
            record.started_at: record
            for record in sorted(remembered.values(), key=lambda record: record.seen_at)
            if record.started_at is not None
        }
        self._times = StartTimes(remembered.values())
        self._record: EngineStartRecord | None = None
        self._start = EngineStart(number=1)
        self._sample = Sample()
        self._has_counters: bool | None = None
        self._away: EngineState | None = EngineState.UNREACHABLE
        self._asleep: Counters | None = None
        self._in_doubt = True
        self._outages = 0
        self._outages_before = 0
        self._next_sample = Sample()
        self._held_back: list[tuple[Dispatch, Answer]] = []
        self._alive_at: float | None = None

    @property
    def state(self) -> EngineState:
        """An engine that sleeps is loading: it takes requests, but answers none until it wakes."""
        if self._away is not None:
            return self._away
        if self._asleep is not None:
            return EngineState.LOADING
        return EngineState.COLD if self.is_cold else EngineState.CERTIFIED

    @property
    def is_away(self) -> bool:
        """Whether the engine answers nothing at present: unreachable, loading or asleep."""
        return self._away is not None or self._asleep is not None

    @property
    def is_asleep(self) -> bool:
        return self._away is None and self._asleep is not None

    @property
    def source(self) -> StartSource:
        told = self._has_counters and not self._times.alternating
        return StartSource.METRICS if told else StartSource.FALLBACK

    @property
    def start(self) -> EngineStart:
        """The present start; after an outage the one before it, until a look tells."""
        return self._start

    @property
    def record(self) -> EngineStartRecord | None:
        """What is known of the present start; None until the upstream was first looked at."""
        return self._record

    @property
    def is_in_doubt(self) -> bool:
        """Whether the next look has to tell if this is a new start."""
        return self._in_doubt

    @property
    def is_cold(self) -> bool:
        return self._in_doubt or self._record is None or self._record.certified_at is None

    def dispatch(
        self,
        *,
        by: AskedBy = AskedBy.REQUEST,
        step: str = "first",
        after: Dispatch | None = None,
    ) -> Dispatch:
        """Note that a strict-JSON request is being sent; the first of a start is its sample.

        `after`: the attempt of the same request before this one, which failed; `step`: what led
        from that to this. Every dispatch must be settled.
        """
        sample = self._next_sample if self._in_doubt else self._sample
        follows = None if after is None else after.request_sample
        role = sample.role_of(follows)
        if role is SampleRole.FIRST:
            follows = None
        sent = Dispatch(self._start, self.is_cold, by, step, role, follows, self._outages)
        if sent.is_sample:
            sample.holder = sent
        return sent

    def settle(self, dispatch: Dispatch, *, valid: bool | None, fault: str | None = None) -> None:
        """Note how the answer was judged; None: it says nothing about the engine.

        `fault` is an invalid answer's. An answer of an earlier start says nothing of the present.
        """
        if dispatch.outages < self._outages_before:
            return
        answer = Answer(valid, fault)
        if not self._in_doubt or dispatch.outages < self._outages:
            self._write(dispatch, answer)
        elif valid is None:
            self._next_sample.give_back(dispatch)
        elif len(self._held_back) < _HELD_BACK:
            self._next_sample.expect(dispatch)
            self._held_back.append((dispatch, answer))

    def saw_unreachable(self) -> None:
        self._leave(EngineState.UNREACHABLE)

    def saw_loading(self) -> None:
        """The upstream answers, but not yet: it is loading, so what comes next is a new start."""
        self._leave(EngineState.LOADING)

    def saw_alive(self) -> None:
        """A call was answered."""
        if self._away is None:
            return
        self._return()
        if self._has_counters is not None and self.source is StartSource.FALLBACK:
            self._fall_back()

    def saw_page(self, counters: Counters | None) -> None:
        """A look was answered; None: with a page that does not tell engine starts apart."""
        self._return()
        self._has_counters = counters is not None
        seen = Seen.ALTERNATING if counters is None else self._times.see(counters.started_at)
        if counters is None or seen is Seen.ALTERNATING:
            self._asleep = None
            self._fall_back()
        else:
            self._see_start(counters, is_new=seen is Seen.NEW)
            self._see_sleep(counters)

    def saw_no_page(self) -> None:
        """Looks are not answered. Before any was, the fallback counts until one is."""
        if self._has_counters is None:
            self._has_counters = False
            if self._away is None:
                self._fall_back()

    def learn(self, start: EngineStart, facts: Mapping[str, str]) -> None:
        """Add to the versions and boot facts of a start, unless it is over."""
        is_present = start.number == self._start.number and not self._in_doubt
        if is_present and self._record is not None:
            self._change(facts={**self._record.facts, **facts})

    def _leave(self, state: EngineState) -> None:
        if self._away is None or not self._outages:
            self._doubt()
        self._away = state

    def _doubt(self) -> None:
        """What answers from now on may be a new start."""
        self._outages += 1
        self._in_doubt = True
        self._next_sample = Sample()
        self._held_back.clear()

    def _return(self) -> None:
        if self._away is not None:
            self._away = None
            self._alive_at = self._unix() if self._outages else None

    def _see_start(self, counters: Counters, *, is_new: bool) -> None:
        record, slept = self._record, self._asleep
        unnamed = record is not None and record.started_at is None
        if record is None or (is_new and (self._in_doubt or not unnamed)):
            self._asleep = None
            known = self._remembered.get(counters.started_at)
            told = by_counters(self._arrival(), counters)
            self._begin(taken_over(known, counters) if known else told)
        elif unnamed:  # the fallback told of this start, and now there are counters
            self._change(started_at=counters.started_at)
            self._keep()
        elif slept is None or not slept.discarded:
            self._keep()
        elif not counters.asleep:
            self._begin(by_waking(self._arrival(), slept, counters))

    def _see_sleep(self, counters: Counters) -> None:
        discarded = self._asleep is not None and self._asleep.discarded
        if counters.discarded and not discarded:
            self._doubt()
        discarded = discarded or counters.discarded
        self._asleep = replace(counters, discarded=discarded) if counters.asleep else None

    def _fall_back(self) -> None:
        if self._in_doubt:
            self._begin(by_fallback(self._arrival()))

    def _arrival(self) -> Arrival:
        own_work = self._next_sample.holder is not None or bool(self._held_back)
        return Arrival(self._lane, self._unix(), self._alive_at, own_work)

    def _begin(self, record: EngineStartRecord) -> None:
        """A new start; what was sent since the last doubt belongs to it."""
        if self._record is not None:
            self._change(over_at=self._unix())
        if not self._in_doubt:
            self._doubt()
        number = self._start.number + (self._record is not None)
        self._start = EngineStart(number, record.untouched)
        self._record = record
        self._sink.start(record)
        self._sample = Sample(judged=record.first_answer is not FirstAnswer.UNKNOWN)
        self._outages_before = self._outages
        self._keep()

    def _keep(self) -> None:
        """The doubt is over: what was held back belongs to the present start."""
        self._in_doubt = False
        self._alive_at = None
        self._sample.pass_to(self._next_sample.holder)
        self._next_sample = Sample()
        held_back, self._held_back = self._held_back, []
        for dispatch, answer in held_back:
            self._write(dispatch, answer)

    def _write(self, dispatch: Dispatch, answer: Answer) -> None:
        if self._record is not None:
            now = self._unix()
            self._set(with_answer(self._record, self._sample, dispatch, answer, now))

    def _change(self, **known: Any) -> None:
        if self._record is not None:
            self._set(msgspec.structs.replace(self._record, **known))

    def _set(self, record: EngineStartRecord) -> None:
        if record != self._record:
            self._record = record
            self._sink.start(record)
