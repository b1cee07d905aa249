"""What is known of the engine behind a lane: reachable, loading, cold or certified.

*Cold* is our own knowledge, not the engine's: no strict-JSON answer of this engine start has been
validated yet. The engine's counters only tell one start from the next.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class EngineState(StrEnum):
    """State of the engine behind a lane, also a metric label."""

    UNREACHABLE = "unreachable"
    LOADING = "loading"
    COLD = "cold"
    CERTIFIED = "certified"


class FirstAnswer(StrEnum):
    """How the first strict-JSON answer of an engine start came out; a metric label."""

    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN = "unknown"


class StartSource(StrEnum):
    """How engine starts are told apart."""

    METRICS = "metrics"
    FALLBACK = "fallback"


@dataclass(frozen=True, slots=True)
class Counters:
    """What one look at the upstream's /metrics tells. `touched`: it has worked already."""

    started_at: float
    touched: bool


@dataclass(frozen=True, slots=True)
class EngineStart:
    """One load of the model. `untouched` is None when the upstream has no such counters."""

    number: int
    untouched: bool | None = None


@dataclass(frozen=True, slots=True)
class Dispatch:
    """The engine as it was when a strict-JSON request was sent to it."""

    start: EngineStart
    cold: bool
    is_sample: bool


# Hears of every engine start once, when its first strict-JSON answer is judged or it is over.
StartObserver = Callable[[EngineStart, FirstAnswer], None]


_START: Final = re.compile(rb"^process_start_time_seconds(?:\{[^}\n]*\})? +(\S+)", re.MULTILINE)
_WORK: Final = re.compile(
    rb"^vllm:(?:request_success_total|prompt_tokens_total|generation_tokens_total)"
    rb"(?:\{[^\n]*\})? +(\S+)",
    re.MULTILINE,
)


def read_counters(page: bytes) -> Counters | None:
    """Read a Prometheus text page; None where it does not tell engine starts apart.

    Aborted streams count tokens, not requests, so all three counters are read.
    """
    started = _START.search(page)
    work = _WORK.findall(page)
    if started is None or not work:
        return None
    try:
        return Counters(float(started[1]), any(float(value) > 0 for value in work))
    except ValueError:
        return None


class Engine:
    """State of one lane's engine. Fed by the poller and by every call; read at dispatch.

    Where counters are missing, or start times alternate because several replicas share the
    address, the fallback counts: a new engine start after the proxy's own start and after every
    period in which the upstream could not be reached.
    """

    def __init__(self, observer: StartObserver) -> None:
        self._observer = observer
        self._start = EngineStart(number=1)
        self._certified = False
        self._sampled = False
        self._answered = False
        self._reachable: bool | None = None
        self._loading = False
        self._started_at: float | None = None
        self._left: set[float] = set()
        self._alternating = False

    @property
    def state(self) -> EngineState:
        if self._loading:
            return EngineState.LOADING
        if self._reachable is False:
            return EngineState.UNREACHABLE
        return EngineState.CERTIFIED if self._certified else EngineState.COLD

    @property
    def source(self) -> StartSource:
        if self._started_at is None or self._alternating:
            return StartSource.FALLBACK
        return StartSource.METRICS

    @property
    def start(self) -> EngineStart:
        return self._start

    @property
    def is_cold(self) -> bool:
        return not self._certified

    def dispatch(self) -> Dispatch:
        """Note that a strict-JSON request is being sent; the first of a start is its sample."""
        is_sample = not self._sampled
        self._sampled = True
        return Dispatch(self._start, cold=not self._certified, is_sample=is_sample)

    def settle(self, dispatch: Dispatch, *, valid: bool | None) -> None:
        """Note how a dispatched request's answer was judged; None: it never came to a verdict.

        An answer of an earlier start says nothing about the present one.
        """
        if dispatch.start.number != self._start.number:
            return
        if dispatch.is_sample and not self._answered and valid is not None:
            self._answered = True
            self._report(FirstAnswer.VALID if valid else FirstAnswer.INVALID)
        elif dispatch.is_sample and valid is None:
            self._sampled = False
        if valid:
            self._certified = True

    def saw_unreachable(self) -> None:
        self._reachable = False
        self._loading = False

    def saw_loading(self) -> None:
        """The upstream answers, but not yet: it is loading, so what comes next is a new start."""
        self._reachable = False
        self._loading = True

    def saw_alive(self, counters: Counters | None = None) -> None:
        """The upstream answered; `counters` where its metrics page could be read."""
        was_away = self._reachable is False
        self._reachable = True
        self._loading = False
        if counters is not None:
            self._see_counters(counters)
        if was_away and self.source is StartSource.FALLBACK:
            self._begin(untouched=None)

    def _see_counters(self, counters: Counters) -> None:
        if self._alternating or counters.started_at == self._started_at:
            return
        if counters.started_at in self._left:
            self._alternating = True
            return
        first_look = self._started_at is None
        if self._started_at is not None:
            self._left.add(self._started_at)
        self._started_at = counters.started_at
        if first_look and not self._sampled:
            self._start = EngineStart(self._start.number, untouched=not counters.touched)
        else:
            self._begin(untouched=not counters.touched)

    def _begin(self, *, untouched: bool | None) -> None:
        if not self._answered:
            self._report(FirstAnswer.UNKNOWN)
        self._start = EngineStart(self._start.number + 1, untouched)
        self._certified = self._sampled = self._answered = False

    def _report(self, first_answer: FirstAnswer) -> None:
        self._observer(self._start, first_answer)
