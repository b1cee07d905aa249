"""Prometheus metrics: the one home of prometheus-client.

Names, types and labels are fixed in docs/metrics.md. Every label value is a member of a closed set
and every child exists from the start, so that the first failure is visible to `rate`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.openmetrics import exposition as openmetrics

from proxy.errors import Fault
from proxy.telemetry.engine_start import EngineStartRecord, FirstAnswer, StartSource
from proxy.telemetry.outcome import (
    AttemptResult,
    AttemptStep,
    Endpoint,
    JudgeResult,
    Outcome,
    ProbeResult,
    ReadyWait,
    Unchecked,
)
from proxy.telemetry.record import AttemptRecord, RequestRecord, VerdictRecord

# Dense where the recipe's TTFR lies (112 to 148 ms); the usual bucket sets are blind there.
TTFR_SECONDS: Final = (
    *(0.025, 0.05, 0.075, 0.09, 0.1, 0.11, 0.115, 0.12, 0.125, 0.13, 0.135, 0.14, 0.145, 0.15),
    *(0.16, 0.18, 0.2, 0.25, 0.35, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0),
)
TOKENS_PER_SECOND: Final = (
    *(5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0),
    *(100.0, 110.0, 120.0, 130.0, 150.0, 200.0),
)
OWN_SECONDS: Final = (*(0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05),)
DURATION_SECONDS: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 60.0, 120.0, 300.0)
WAIT_SECONDS: Final = (0.005, 0.02, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

_RESULTS: Final = ("pass", "fail", "skip", "error")


@dataclass(frozen=True, slots=True)
class _PresentStart:
    key: str
    is_counted: bool


class Metrics:
    """All metrics of one proxy, in the registry that is handed in."""

    def __init__(
        self,
        registry: CollectorRegistry,
        *,
        gates: Collection[str] = (),
        repairs: Collection[str] = (),
        slo_ttfr_seconds: float = 0.2,
    ) -> None:
        # The library's switch is process-wide; `_created` series would double the page.
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = registry
        ttfr = tuple(sorted({*TTFR_SECONDS, slo_ttfr_seconds}))
        self._requests = self._counter(
            "requests",
            "Requests by how they ended.",
            endpoint=tuple(Endpoint),
            outcome=tuple(Outcome),
        )
        self._in_flight = self._gauge("requests_in_flight", "Requests being worked on.")
        self._queue_depth = self._gauge("queue_depth", "Requests waiting for admission.")
        self._upstream_ttfr = self._by_stream(
            "upstream_time_to_first_response_seconds",
            "Dispatch to the first upstream event with choices (or the body), per attempt.",
            ttfr,
        )
        self._ttfr = self._by_stream(
            "time_to_first_response_seconds",
            "Request received to the first event with choices (or the body) leaving us.",
            ttfr,
        )
        self._ttft = self._histogram(
            "time_to_first_token_seconds",
            "Request received to the first content, reasoning or tool-call delta leaving us.",
            ttfr,
        )
        self._tokens_per_second = self._histogram(
            "output_tokens_per_second", "Decode rate of a streamed reply.", TOKENS_PER_SECOND
        )
        self._duration = self._histogram(
            "request_duration_seconds", "Request received to its end.", DURATION_SECONDS
        )
        self._hold = self._histogram(
            "hold_seconds",
            "Delivered minus upstream first response, held and windowed.",
            WAIT_SECONDS,
        )
        self._queue = self._histogram("queue_seconds", "Wait for admission.", WAIT_SECONDS)
        self._overhead = self._histogram(
            "overhead_seconds", "Our own time, waiting for upstream excluded.", OWN_SECONDS
        )
        self._prompt_tokens = self._plain_counter("prompt_tokens", "Prompt tokens, as stated.")
        self._output_tokens = self._plain_counter("output_tokens", "Delivered output tokens.")
        self._failed_tokens = self._plain_counter(
            "failed_attempt_tokens", "Output tokens of attempts that were not delivered."
        )
        self._attempts = self._counter(
            "attempts", "Upstream calls.", step=tuple(AttemptStep), result=tuple(AttemptResult)
        )
        self._verdicts = self._counter(
            "verdicts", "Verdicts on attempts.", gate=tuple(gates), result=_RESULTS
        )
        self._faults = self._counter("faults", "Faults found in attempts.", fault=tuple(Fault))
        self._gate_duration = self._histograms(
            "gate_duration_seconds", "Time of a gate on one reply.", OWN_SECONDS, "gate", gates
        )
        self._repairs = self._counter(
            "repairs", "Repairs of delivered replies.", repair=tuple(repairs)
        )
        self._unchecked = self._counter(
            "unchecked", "Replies or parts of a contract not judged.", reason=tuple(Unchecked)
        )
        self._engine_starts = Counter(
            "sluicegate_engine_starts",
            "Engine starts by how their first strict-JSON answer came out.",
            ("lane", "first_answer"),
            registry=registry,
        )
        self._engine_state = Gauge(
            "sluicegate_engine_state",
            "State of the engine behind a lane.",
            ("lane", "state"),
            registry=registry,
        )
        self._starts_told_by = Gauge(
            "sluicegate_engine_starts_told_by",
            "How the starts of a lane's engine are told apart.",
            ("lane", "source"),
            registry=registry,
        )
        self._present_starts: dict[str, _PresentStart] = {}
        self._log_dropped = self._plain_counter("log_dropped", "Log lines lost to a slow reader.")
        self._records_failed = self._plain_counter(
            "records_failed", "Records that could not be made, or that a sink did not take."
        )
        self._ledger_dropped = self._plain_counter(
            "ledger_dropped", "Records that were to go to the ledger and are lost."
        )
        self._probes = Counter(
            "sluicegate_probes", "Requests of probes.", ("lane", "result"), registry=registry
        )
        self._probe_tokens = self._plain_counter("probe_tokens", "Output tokens of probes.")
        self._judge_calls = self._counter(
            "judge_calls", "Calls of judge lanes.", result=tuple(JudgeResult)
        )
        self._judge_seconds = self._histogram(
            "judge_seconds", "Time of a call of a judge lane.", WAIT_SECONDS
        )
        self._judge_prompt_tokens = self._plain_counter(
            "judge_prompt_tokens", "Prompt tokens of judge lanes, as stated."
        )
        self._judge_output_tokens = self._plain_counter(
            "judge_output_tokens", "Output tokens of judge lanes."
        )
        self._hints_cleared = self._plain_counter(
            "hints_cleared", "Hints disproved by quotations of a judge lane."
        )
        self._ready_waits = self._counter(
            "ready_waits", "Waits of requests for their engine.", result=tuple(ReadyWait)
        )
        self._ready_waiting = self._gauge(
            "ready_waiting", "Requests waiting for an engine that is away or probed."
        )

    def watch_load(self, in_flight: Callable[[], int], queue_depth: Callable[[], int]) -> None:
        """Gauges that are read when a page is rendered."""
        self._in_flight.set_function(in_flight)
        self._queue_depth.set_function(queue_depth)

    def watch_engine(
        self,
        lane: str,
        states: Collection[str],
        state: Callable[[], str],
        source: Callable[[], str],
    ) -> None:
        """Show a lane's engine: 1 for its present state and source of starts, 0 for the others."""
        for one in states:
            self._engine_state.labels(lane, one).set_function(partial(_is, state, one))
        for one in StartSource:
            self._starts_told_by.labels(lane, one).set_function(partial(_is, source, one))
        for first_answer in FirstAnswer:
            self._engine_starts.labels(lane, first_answer)

    def watch_ready(self, lane: str, waiting: Callable[[], int]) -> None:
        """Show how many requests wait for a lane's engine, and count its probe from the start."""
        self._ready_waiting.set_function(waiting)
        for result in ProbeResult:
            self._probes.labels(lane, result)

    def probe(self, lane: str, result: ProbeResult, tokens: int) -> None:
        """Count one request of a lane's probe; its tokens are nobody's output."""
        self._probes.labels(lane, result).inc()
        self._probe_tokens.inc(_countable(tokens))

    def judge_call(
        self, result: JudgeResult, seconds: float, prompt_tokens: int, output_tokens: int
    ) -> None:
        """Count one call of a judge lane; its tokens are in no other metric."""
        self._judge_calls[(result,)].inc()
        self._judge_seconds.observe(seconds)
        self._judge_prompt_tokens.inc(_countable(prompt_tokens))
        self._judge_output_tokens.inc(_countable(output_tokens))

    def hints_cleared(self, count: int) -> None:
        self._hints_cleared.inc(count)

    def ready_wait(self, result: ReadyWait) -> None:
        self._ready_waits[(result,)].inc()

    def start(self, record: EngineStartRecord) -> None:
        """Count an engine start once: when its first answer is judged, or when it is over.

        One that comes with its first answer was counted by an earlier run of the proxy.
        """
        known = record.first_answer is not FirstAnswer.UNKNOWN
        present = self._present_starts.get(record.lane)
        if present is None or present.key != record.key:
            self._present_starts[record.lane] = _PresentStart(record.key, is_counted=known)
        elif not present.is_counted and (known or record.over_at is not None):
            self._present_starts[record.lane] = _PresentStart(record.key, is_counted=True)
            self._engine_starts.labels(record.lane, record.first_answer).inc()

    def watch_ledger(self, works: Callable[[], bool]) -> None:
        """Show whether the ledger works; without a ledger there is no such series."""
        self._gauge("ledger_up", "Whether the ledger works.").set_function(works)

    def log_dropped(self) -> None:
        self._log_dropped.inc()

    def records_failed(self, count: int) -> None:
        self._records_failed.inc(count)

    def ledger_dropped(self, count: int) -> None:
        self._ledger_dropped.inc(count)

    def info(self, name: str, documentation: str, rows: Sequence[Mapping[str, str]]) -> None:
        """Gauges of constant 1 whose labels say what runs; rows share their label names."""
        if not rows:
            return
        gauge = Gauge(f"sluicegate_{name}", documentation, tuple(rows[0]), registry=self.registry)
        for row in rows:
            gauge.labels(**row).set(1)

    def add(self, record: RequestRecord) -> None:
        """Count a finished request."""
        self._requests[record.endpoint, record.outcome].inc()
        self._duration.observe(record.duration_seconds)
        for reason in record.unchecked:
            self._unchecked[(reason,)].inc()
        if not record.attempts:
            return
        self._queue.observe(record.queue_seconds)
        self._overhead.observe(record.overhead_seconds)
        for attempt in record.attempts:
            self._add_attempt(attempt, stream=record.stream)
        self._add_delivery(record)

    def _add_attempt(self, attempt: AttemptRecord, *, stream: bool) -> None:
        self._attempts[attempt.step, attempt.result].inc()
        if attempt.ttfr_seconds is not None:
            self._upstream_ttfr[stream].observe(attempt.ttfr_seconds)
        for fault in attempt.faults:
            self._faults[(fault,)].inc()
        for verdict in attempt.verdicts:
            self._add_verdict(verdict)

    def _add_verdict(self, verdict: VerdictRecord) -> None:
        self._verdicts[verdict.gate, verdict.result].inc()
        self._gate_duration[verdict.gate].observe(verdict.seconds)

    def _add_delivery(self, record: RequestRecord) -> None:
        if record.ttfr_seconds is not None:
            self._ttfr[record.stream].observe(record.ttfr_seconds)
        if record.ttft_seconds is not None:
            self._ttft.observe(record.ttft_seconds)
        if record.tokens_per_second is not None:
            self._tokens_per_second.observe(record.tokens_per_second)
        if record.hold_seconds is not None:
            self._hold.observe(record.hold_seconds)
        self._prompt_tokens.inc(_countable(record.prompt_tokens))
        self._output_tokens.inc(_countable(record.completion_tokens))
        self._failed_tokens.inc(_countable(record.failed_attempt_tokens))
        for repair in record.repairs:
            self._repairs[(repair,)].inc()

    def page(self, *, open_metrics: bool = False) -> tuple[bytes, str]:
        """The page for a scrape and its content type. Takes milliseconds: call it in a thread."""
        if open_metrics:
            page = openmetrics.generate_latest(self.registry)  # type: ignore[no-untyped-call]
            return page, openmetrics.CONTENT_TYPE_LATEST
        page = prometheus_client.generate_latest(self.registry)
        return page, prometheus_client.CONTENT_TYPE_LATEST

    def _counter(
        self, name: str, documentation: str, **labels: Collection[str]
    ) -> dict[tuple[str, ...], Counter]:
        counter = Counter(
            f"sluicegate_{name}", documentation, tuple(labels), registry=self.registry
        )
        return {values: counter.labels(*values) for values in _product(*labels.values())}

    def _plain_counter(self, name: str, documentation: str) -> Counter:
        return Counter(f"sluicegate_{name}", documentation, registry=self.registry)

    def _gauge(self, name: str, documentation: str) -> Gauge:
        return Gauge(f"sluicegate_{name}", documentation, registry=self.registry)

    def _histogram(self, name: str, documentation: str, edges: tuple[float, ...]) -> Histogram:
        return Histogram(f"sluicegate_{name}", documentation, buckets=edges, registry=self.registry)

    def _histograms(
        self,
        name: str,
        documentation: str,
        edges: tuple[float, ...],
        label: str,
        values: Collection[str],
    ) -> dict[str, Histogram]:
        histogram = Histogram(
            f"sluicegate_{name}", documentation, (label,), buckets=edges, registry=self.registry
        )
        return {value: histogram.labels(value) for value in values}

    def _by_stream(
        self, name: str, documentation: str, edges: tuple[float, ...]
    ) -> dict[bool, Histogram]:
        children = self._histograms(name, documentation, edges, "stream", ("true", "false"))
        return {True: children["true"], False: children["false"]}


def _countable(tokens: int | None) -> int:
    """What a counter can take of an upstream's claim: it may be absent, or below zero."""
    return max(0, tokens or 0)


def _is(current: Callable[[], str], state: str) -> float:
    return float(current() == state)


def _product(*sets: Collection[str]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [()]
    for values in sets:
        rows = [(*row, str(value)) for row in rows for value in values]
    return rows
