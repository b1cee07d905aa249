"""Metrics of the proxy itself: what runs, and what was lost on the way to log and ledger."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from proxy.telemetry.collectors import Collectors
from proxy.telemetry.labels import HASH, LANE, POLICY, RECIPE, VERSION
from proxy.telemetry.metric import Kind, Metric

LOG_DROPPED: Final = Metric(
    "log_dropped",
    Kind.COUNTER,
    "log lines lost to a slow reader",
    "lines",
    "increase(sluicegate_log_dropped_total[1h])",
)
RECORDS_FAILED: Final = Metric(
    "records_failed",
    Kind.COUNTER,
    "records of requests that could not be made, or that the metrics, the log or the ledger did "
    "not take",
    "records",
    "increase(sluicegate_records_failed_total[1h])",
)
LEDGER_DROPPED: Final = Metric(
    "ledger_dropped",
    Kind.COUNTER,
    "requests and reports of engine starts that were to go to the ledger and are lost",
    "records",
    "increase(sluicegate_ledger_dropped_total[1h])",
    page="ledger.md",
)
LEDGER_UP: Final = Metric(
    "ledger_up",
    Kind.GAUGE,
    "1 while the ledger works; only where there is one",
    "0 or 1",
    "min_over_time(sluicegate_ledger_up[5m])",
    page="ledger.md",
)
BUILD_INFO: Final = Metric(
    "build_info",
    Kind.GAUGE,
    "the running version",
    "1",
    "count by (version) (sluicegate_build_info)",
    labels=(VERSION,),
)
POLICY_INFO: Final = Metric(
    "policy_info",
    Kind.GAUGE,
    "policies in force, by file hash",
    "1",
    "count by (policy, hash) (sluicegate_policy_info)",
    labels=(POLICY, HASH),
)
RECIPE_INFO: Final = Metric(
    "recipe_info",
    Kind.GAUGE,
    "the recipe that a lane is said to run; only where the settings name one",
    "1",
    "count by (lane, recipe, hash) (sluicegate_recipe_info)",
    labels=(LANE, HASH, *RECIPE),
)
METRICS: Final = (
    LOG_DROPPED,
    RECORDS_FAILED,
    LEDGER_DROPPED,
    LEDGER_UP,
    BUILD_INFO,
    POLICY_INFO,
    RECIPE_INFO,
)


class OwnMetrics:
    """Counts losses. Log and ledger tell of theirs from threads of their own."""

    def __init__(self, collectors: Collectors) -> None:
        self._collectors = collectors
        self._log_dropped = collectors.counter(LOG_DROPPED)
        self._records_failed = collectors.counter(RECORDS_FAILED)
        self._ledger_dropped = collectors.counter(LEDGER_DROPPED)

    def log_dropped(self) -> None:
        self._log_dropped.inc()

    def records_failed(self, count: int) -> None:
        self._records_failed.inc(count)

    def ledger_dropped(self, count: int) -> None:
        self._ledger_dropped.inc(count)

    def watch_ledger(self, works: Callable[[], bool]) -> None:
        self._collectors.gauge(LEDGER_UP).set_function(works)

    def info(self, metric: Metric, rows: Sequence[Mapping[str, str]]) -> None:
        if rows:
            gauge = self._collectors.gauge(metric)
            for row in rows:
                gauge.labels(**row).set(1)
