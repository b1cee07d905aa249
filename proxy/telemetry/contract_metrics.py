"""Metrics of the contract: attempts, verdicts, faults, repairs, and what went unjudged."""

from typing import Final

from proxy.telemetry.buckets import OWN_SECONDS
from proxy.telemetry.collectors import Collectors, Values
from proxy.telemetry.histogram import Trace
from proxy.telemetry.labels import (
    ATTEMPT_RESULT,
    FAULT,
    GATE,
    REASON,
    REPAIR,
    STEP,
    VERDICT_RESULT,
)
from proxy.telemetry.metric import Kind, Metric
from proxy.telemetry.outcome import AttemptResult, AttemptStep
from proxy.telemetry.queries import quantile, rate
from proxy.telemetry.record import AttemptRecord, RequestRecord

ATTEMPTS: Final = Metric(
    "attempts",
    Kind.COUNTER,
    "upstream calls",
    "attempts",
    rate("sluicegate_attempts_total", "step", matching='result="valid"', window="1h"),
    labels=(STEP, ATTEMPT_RESULT),
)
VERDICTS: Final = Metric(
    "verdicts",
    Kind.COUNTER,
    "verdicts on attempts",
    "verdicts",
    rate("sluicegate_verdicts_total", "gate", matching='result="fail"'),
    labels=(GATE, VERDICT_RESULT),
)
FAULTS: Final = Metric(
    "faults",
    Kind.COUNTER,
    "faults found in attempts",
    "faults",
    f"topk(5, {rate('sluicegate_faults_total', 'fault', window='1h')})",
    labels=(FAULT,),
)
GATE_DURATION: Final = Metric(
    "gate_duration_seconds",
    Kind.HISTOGRAM,
    "time of a gate on one whole reply, waiting for the judging process included",
    "seconds",
    quantile(0.95, "sluicegate_gate_duration_seconds", "gate"),
    labels=(GATE,),
    edges=OWN_SECONDS,
)
REPAIRS: Final = Metric(
    "repairs",
    Kind.COUNTER,
    "repairs of delivered replies",
    "repairs",
    rate("sluicegate_repairs_total", "repair"),
    labels=(REPAIR,),
)
UNCHECKED: Final = Metric(
    "unchecked",
    Kind.COUNTER,
    "replies, or parts of a contract, that were not judged",
    "replies",
    rate("sluicegate_unchecked_total", "reason"),
    labels=(REASON,),
)
METRICS: Final = (ATTEMPTS, VERDICTS, FAULTS, GATE_DURATION, REPAIRS, UNCHECKED)
# Only these can come to a reply that no enforced gate judges: the others follow a verdict.
_UNJUDGED: Final = {AttemptStep.FIRST, AttemptStep.WAITED, AttemptStep.UPSTREAM_FAULT}


class ContractMetrics:
    """Counts what was found in the attempts of requests."""

    def __init__(self, collectors: Collectors) -> None:
        self._attempts = collectors.counters(ATTEMPTS, _happens)
        self._verdicts = collectors.counters(VERDICTS)
        self._faults = collectors.counters(FAULTS)
        self._gate_duration = collectors.histograms(GATE_DURATION)
        self._repairs = collectors.counters(REPAIRS)
        self._unchecked = collectors.counters(UNCHECKED)

    def add(self, record: RequestRecord, trace: Trace | None) -> None:
        for reason in record.unchecked:
            self._unchecked[reason,].inc()
        for attempt in record.attempts:
            self._add_attempt(attempt, trace)
        for repair in record.repairs:
            self._repairs[repair,].inc()

    def _add_attempt(self, attempt: AttemptRecord, trace: Trace | None) -> None:
        self._attempts[attempt.step, attempt.result].inc()
        for fault in attempt.faults:
            self._faults[fault,].inc(1, None if trace is None else trace.labels)
        for verdict in attempt.verdicts:
            self._verdicts[verdict.gate, verdict.result].inc()
            self._gate_duration[verdict.gate,].observe(verdict.seconds, trace)


def _happens(values: Values) -> bool:
    step, result = values
    return step in _UNJUDGED or result != AttemptResult.RELAYED
