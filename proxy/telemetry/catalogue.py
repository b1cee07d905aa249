"""All metrics of the proxy, in the order of their documentation."""

from typing import Final

from proxy.telemetry import (
    contract_metrics,
    engine_metrics,
    judge_metrics,
    latency_metrics,
    own_metrics,
    process_metrics,
    request_metrics,
)
from proxy.telemetry.metric import Metric

CATALOGUE: Final[tuple[Metric, ...]] = (
    *request_metrics.METRICS,
    *latency_metrics.METRICS,
    *contract_metrics.METRICS,
    *engine_metrics.METRICS,
    *judge_metrics.METRICS,
    *own_metrics.METRICS,
    *process_metrics.METRICS,
)
