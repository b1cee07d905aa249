"""Metrics of time: from a request's arrival to its first response, its tokens and its end."""

from typing import Final

from proxy.telemetry.buckets import (
    DURATION_SECONDS,
    OWN_SECONDS,
    TOKENS_PER_SECOND,
    TTFR_SECONDS,
    TTFT_SECONDS,
    WAIT_SECONDS,
)
from proxy.telemetry.collectors import Collectors
from proxy.telemetry.histogram import Histogram, Trace
from proxy.telemetry.labels import STREAM
from proxy.telemetry.metric import Alias, Kind, Metric
from proxy.telemetry.queries import quantile
from proxy.telemetry.record import RequestRecord

UPSTREAM_TTFR: Final = Metric(
    "upstream_time_to_first_response_seconds",
    Kind.HISTOGRAM,
    "dispatch to the first upstream event with choices, or to the body, per attempt",
    "seconds",
    quantile(0.95, "sluicegate_upstream_time_to_first_response_seconds", matching='stream="true"'),
    labels=(STREAM,),
    edges=TTFR_SECONDS,
    has_objective=True,
    alias=Alias(
        "gen_ai.client.inference.time_to_first_chunk",
        'waits for an event with choices; has whole replies too, as `stream="false"`',
    ),
)
TTFR: Final = Metric(
    "time_to_first_response_seconds",
    Kind.HISTOGRAM,
    "request received to the first event with choices, or the body, leaving the proxy",
    "seconds",
    quantile(0.95, "sluicegate_time_to_first_response_seconds", matching='stream="true"'),
    labels=(STREAM,),
    edges=TTFR_SECONDS,
    has_objective=True,
)
TTFT: Final = Metric(
    "time_to_first_token_seconds",
    Kind.HISTOGRAM,
    "request received to the first content, reasoning or tool-call delta leaving the proxy; "
    "streams only",
    "seconds",
    quantile(0.95, "sluicegate_time_to_first_token_seconds"),
    edges=TTFT_SECONDS,
    has_objective=True,
    alias=Alias(
        "gen_ai.server.time_to_first_token", "of the proxy: admission, attempts and holding count"
    ),
)
RATE: Final = Metric(
    "output_tokens_per_second",
    Kind.HISTOGRAM,
    "decode rate of a streamed reply; needs usage",
    "tokens/second",
    quantile(0.5, "sluicegate_output_tokens_per_second"),
    edges=TOKENS_PER_SECOND,
    alias=Alias("gen_ai.server.time_per_output_token", "its inverse, 1 / x seconds a token"),
)
DURATION: Final = Metric(
    "request_duration_seconds",
    Kind.HISTOGRAM,
    "request received to its end",
    "seconds",
    quantile(0.95, "sluicegate_request_duration_seconds"),
    edges=DURATION_SECONDS,
    alias=Alias("gen_ai.server.request.duration", "of the proxy: admission and attempts count"),
)
HOLD: Final = Metric(
    "hold_seconds",
    Kind.HISTOGRAM,
    "delivered minus upstream first response, of held and windowed replies",
    "seconds",
    quantile(0.95, "sluicegate_hold_seconds"),
    edges=WAIT_SECONDS,
)
QUEUE: Final = Metric(
    "queue_seconds",
    Kind.HISTOGRAM,
    "wait for admission",
    "seconds",
    quantile(0.95, "sluicegate_queue_seconds"),
    edges=WAIT_SECONDS,
)
OVERHEAD: Final = Metric(
    "overhead_seconds",
    Kind.HISTOGRAM,
    "the proxy's own time; waits for upstream and admission excluded",
    "seconds",
    quantile(0.95, "sluicegate_overhead_seconds"),
    edges=OWN_SECONDS,
)
METRICS: Final = (UPSTREAM_TTFR, TTFR, TTFT, RATE, DURATION, HOLD, QUEUE, OVERHEAD)


class LatencyMetrics:
    """Measures requests; every sample carries the request's trace."""

    def __init__(self, collectors: Collectors) -> None:
        self._upstream_ttfr = _by_stream(collectors, UPSTREAM_TTFR)
        self._ttfr = _by_stream(collectors, TTFR)
        self._ttft = collectors.histogram(TTFT)
        self._rate = collectors.histogram(RATE)
        self._duration = collectors.histogram(DURATION)
        self._hold = collectors.histogram(HOLD)
        self._queue = collectors.histogram(QUEUE)
        self._overhead = collectors.histogram(OVERHEAD)

    def add(self, record: RequestRecord, trace: Trace | None) -> None:
        self._duration.observe(record.duration_seconds, trace)
        if not record.attempts:
            return
        self._queue.observe(record.queue_seconds, trace)
        self._overhead.observe(record.overhead_seconds, trace)
        for attempt in record.attempts:
            if attempt.ttfr_seconds is not None:
                self._upstream_ttfr[record.stream].observe(attempt.ttfr_seconds, trace)
        if record.ttfr_seconds is not None:
            self._ttfr[record.stream].observe(record.ttfr_seconds, trace)
        if record.ttft_seconds is not None:
            self._ttft.observe(record.ttft_seconds, trace)
        if record.tokens_per_second is not None:
            self._rate.observe(record.tokens_per_second, trace)
        if record.hold_seconds is not None:
            self._hold.observe(record.hold_seconds, trace)


def _by_stream(collectors: Collectors, metric: Metric) -> dict[bool, Histogram]:
    children = collectors.histograms(metric)
    return {True: children["true",], False: children["false",]}
