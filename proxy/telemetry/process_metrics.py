"""What the system tells of the proxy's own process, by the names that every program has for it."""

from collections.abc import Iterator
from typing import Final

import prometheus_client
from prometheus_client import ProcessCollector
from prometheus_client.registry import Collector
from typing_extensions import override

from proxy.telemetry.metric import Kind, Metric

_PREFIX: Final = "process_"
START_TIME: Final = Metric(
    "start_time_seconds",
    Kind.GAUGE,
    "Unix time at which the proxy's process was started; only on Linux",
    "seconds",
    'changes(process_start_time_seconds{job="sluicegate"}[1h])',
    prefix=_PREFIX,
)
RESIDENT_MEMORY: Final = Metric(
    "resident_memory_bytes",
    Kind.GAUGE,
    "memory of the proxy's process, its judging process not included; only on Linux",
    "bytes",
    'process_resident_memory_bytes{job="sluicegate"}',
    prefix=_PREFIX,
)
OPEN_FILES: Final = Metric(
    "open_fds",
    Kind.GAUGE,
    "open files of the proxy's process, connections included; only on Linux",
    "files",
    'process_open_fds{job="sluicegate"}',
    prefix=_PREFIX,
)
METRICS: Final = (START_TIME, RESIDENT_MEMORY, OPEN_FILES)


class ProcessFamilies(Collector):
    """Those of the library's process metrics that are declared here; none without a `/proc`."""

    def __init__(self) -> None:
        self._all = ProcessCollector(registry=None)
        self._declared = {metric.full_name: metric for metric in METRICS}

    @override
    def collect(self) -> Iterator[prometheus_client.Metric]:
        for family in self._all.collect():
            metric = self._declared.get(family.name)
            if metric is not None:
                family.documentation = metric.meaning
                yield family
