"""Metrics of requests: how they ended, how many there are at once, and their tokens."""

from collections.abc import Callable
from typing import Final

from proxy.telemetry.collectors import Collectors, Values
from proxy.telemetry.histogram import Trace
from proxy.telemetry.labels import ENDPOINT, OUTCOME
from proxy.telemetry.metric import Alias, Kind, Metric
from proxy.telemetry.outcome import Endpoint, Outcome
from proxy.telemetry.queries import rate
from proxy.telemetry.record import RequestRecord

REQUESTS: Final = Metric(
    "requests",
    Kind.COUNTER,
    "requests by how they ended",
    "requests",
    rate("sluicegate_requests_total", "outcome"),
    labels=(ENDPOINT, OUTCOME),
)
IN_FLIGHT: Final = Metric(
    "requests_in_flight",
    Kind.GAUGE,
    "requests being worked on, waiting ones included",
    "requests",
    "max_over_time(sluicegate_requests_in_flight[5m])",
)
QUEUE_DEPTH: Final = Metric(
    "queue_depth",
    Kind.GAUGE,
    "requests waiting for admission",
    "requests",
    "max_over_time(sluicegate_queue_depth[5m])",
)
PROMPT_TOKENS: Final = Metric(
    "prompt_tokens",
    Kind.COUNTER,
    "prompt tokens of delivered replies, as the upstream states them",
    "tokens",
    rate("sluicegate_prompt_tokens_total"),
    alias=Alias("gen_ai.client.inference.usage.input_tokens", "delivered replies only; no model"),
)
OUTPUT_TOKENS: Final = Metric(
    "output_tokens",
    Kind.COUNTER,
    "output tokens of delivered replies",
    "tokens",
    rate("sluicegate_output_tokens_total"),
    alias=Alias("gen_ai.client.inference.usage.output_tokens", "delivered replies only; no model"),
)
FAILED_TOKENS: Final = Metric(
    "failed_attempt_tokens",
    Kind.COUNTER,
    "output tokens of attempts that were not delivered; a lower bound where a stream was cut",
    "tokens",
    rate("sluicegate_failed_attempt_tokens_total"),
)
METRICS: Final = (
    REQUESTS,
    IN_FLIGHT,
    QUEUE_DEPTH,
    PROMPT_TOKENS,
    OUTPUT_TOKENS,
    FAILED_TOKENS,
)
# What only a judged request comes to, and only chat is judged.
_OF_CHAT: Final = {Outcome.REPAIRED, Outcome.FLAGGED, Outcome.PARKED, Outcome.REJECTED}


class RequestMetrics:
    """Counts requests and tokens."""

    def __init__(self, collectors: Collectors) -> None:
        self._requests = collectors.counters(REQUESTS, _happens)
        self._in_flight = collectors.gauge(IN_FLIGHT)
        self._queue_depth = collectors.gauge(QUEUE_DEPTH)
        self._prompt_tokens = collectors.counter(PROMPT_TOKENS)
        self._output_tokens = collectors.counter(OUTPUT_TOKENS)
        self._failed_tokens = collectors.counter(FAILED_TOKENS)

    def watch(self, in_flight: Callable[[], int], queue_depth: Callable[[], int]) -> None:
        self._in_flight.set_function(in_flight)
        self._queue_depth.set_function(queue_depth)

    def add(self, record: RequestRecord, trace: Trace | None) -> None:
        """An exemplar leads to the last request of each outcome but the good one."""
        is_good = record.outcome is Outcome.PASSED
        exemplar = None if trace is None or is_good else trace.labels
        self._requests[record.endpoint, record.outcome].inc(1, exemplar)
        if record.attempts:
            self._prompt_tokens.inc(countable(record.prompt_tokens))
            self._output_tokens.inc(countable(record.completion_tokens))
            self._failed_tokens.inc(countable(record.failed_attempt_tokens))


def countable(tokens: int | None) -> int:
    """What a counter can take of an upstream's claim: it may be absent, or below zero."""
    return max(0, tokens or 0)


def _happens(values: Values) -> bool:
    endpoint, outcome = values
    return endpoint == Endpoint.CHAT or outcome not in _OF_CHAT
