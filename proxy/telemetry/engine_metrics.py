"""Metrics of the engine behind a lane: its starts and state, its probe, and who waits for it."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Final

from proxy.telemetry.collectors import Collectors
from proxy.telemetry.engine_start import EngineStartRecord, FirstAnswer, StartSource
from proxy.telemetry.labels import (
    FIRST_ANSWER,
    LANE,
    PROBE_RESULT,
    SOURCE,
    STATE,
    SWITCH,
    WAIT_RESULT,
)
from proxy.telemetry.metric import Kind, Metric
from proxy.telemetry.outcome import ProbeResult, ReadyWait
from proxy.telemetry.queries import rate
from proxy.telemetry.request_metrics import countable

STARTS: Final = Metric(
    "engine_starts",
    Kind.COUNTER,
    "engine starts by how their first strict-JSON answer came out",
    "engine starts",
    "sum by (lane, first_answer) (increase(sluicegate_engine_starts_total[7d]))",
    labels=(LANE, FIRST_ANSWER),
    page="cold-start.md",
)
ENGINE_STATE: Final = Metric(
    "engine_state",
    Kind.GAUGE,
    "1 for the present state of the engine",
    "0 or 1",
    "sluicegate_engine_state == 1",
    labels=(LANE, STATE),
)
TOLD_BY: Final = Metric(
    "engine_starts_told_by",
    Kind.GAUGE,
    "1 for how engine starts are told apart at present",
    "0 or 1",
    "sluicegate_engine_starts_told_by == 1",
    labels=(LANE, SOURCE),
)
CONTRADICTIONS: Final = Metric(
    "recipe_contradictions",
    Kind.GAUGE,
    "1 for each switch of a lane's recipe that its engine contradicts; only where the settings "
    "name a recipe",
    "0 or 1",
    "sluicegate_recipe_contradictions == 1",
    labels=(LANE, SWITCH),
)
PROBES: Final = Metric(
    "probes",
    Kind.COUNTER,
    "requests of probes",
    "requests",
    "sum by (lane, result) (increase(sluicegate_probes_total[1d]))",
    labels=(LANE, PROBE_RESULT),
    page="operations.md#probe",
)
PROBE_TOKENS: Final = Metric(
    "probe_tokens",
    Kind.COUNTER,
    "output tokens of probes; they are in no other metric",
    "tokens",
    "increase(sluicegate_probe_tokens_total[1d])",
)
READY_WAITS: Final = Metric(
    "ready_waits",
    Kind.COUNTER,
    "waits of requests for an engine that is away or probed; one request may wait several times",
    "waits",
    rate("sluicegate_ready_waits_total", "result"),
    labels=(WAIT_RESULT,),
    page="operations.md#waiting-for-the-engine",
)
READY_WAITING: Final = Metric(
    "ready_waiting",
    Kind.GAUGE,
    "requests that wait so now",
    "requests",
    "max_over_time(sluicegate_ready_waiting[5m])",
)
METRICS: Final = (
    STARTS,
    ENGINE_STATE,
    TOLD_BY,
    CONTRADICTIONS,
    PROBES,
    PROBE_TOKENS,
    READY_WAITS,
    READY_WAITING,
)


@dataclass(frozen=True, slots=True)
class _PresentStart:
    key: str
    is_counted: bool


class EngineMetrics:
    """Counts starts, probes and waits; shows states that are read when a page is rendered."""

    def __init__(self, collectors: Collectors) -> None:
        self._collectors = collectors
        self._starts = collectors.counters(STARTS)
        self._state = collectors.gauge(ENGINE_STATE)
        self._told_by = collectors.gauge(TOLD_BY)
        self._probes = collectors.counters(PROBES)
        self._probe_tokens = collectors.counter(PROBE_TOKENS)
        self._ready_waits = collectors.counters(READY_WAITS)
        self._ready_waiting = collectors.gauge(READY_WAITING)
        self._present: dict[str, _PresentStart] = {}

    def watch(
        self,
        lane: str,
        states: Collection[str],
        state: Callable[[], str],
        source: Callable[[], str],
    ) -> None:
        for one in states:
            self._state.labels(lane, one).set_function(partial(_is, state, one))
        for told in StartSource:
            self._told_by.labels(lane, told).set_function(partial(_is, source, told))
        self._starts.make((lane, answer) for answer in FirstAnswer)

    def watch_recipe(
        self, lane: str, switches: Collection[str], contradicted: Callable[[], Collection[str]]
    ) -> None:
        gauge = self._collectors.gauge(CONTRADICTIONS)
        for switch in switches:
            gauge.labels(lane, switch).set_function(partial(_has, contradicted, switch))

    def watch_ready(self, lane: str, waiting: Callable[[], int]) -> None:
        self._ready_waiting.set_function(waiting)
        self._probes.make((lane, result) for result in ProbeResult)

    def probe(self, lane: str, result: ProbeResult, tokens: int) -> None:
        self._probes[lane, result].inc()
        self._probe_tokens.inc(countable(tokens))

    def ready_wait(self, result: ReadyWait) -> None:
        self._ready_waits[result,].inc()

    def start(self, record: EngineStartRecord) -> None:
        known = record.first_answer is not FirstAnswer.UNKNOWN
        present = self._present.get(record.lane)
        if present is None or present.key != record.key:
            self._present[record.lane] = _PresentStart(record.key, is_counted=known)
        elif not present.is_counted and (known or record.over_at is not None):
            self._present[record.lane] = _PresentStart(record.key, is_counted=True)
            self._starts[record.lane, record.first_answer].inc()


def _is(current: Callable[[], str], state: str) -> float:
    return float(current() == state)


def _has(current: Callable[[], Collection[str]], one: str) -> float:
    return float(one in current())
