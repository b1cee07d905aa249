"""Histograms that are cheap to observe and that a scrape never holds up.

The library's own takes a lock for each bucket and looks for it one by one, and its exemplars cost
twice that again. One thread observes here, and what another one reads are copies.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from prometheus_client.core import Exemplar, HistogramMetricFamily
from prometheus_client.registry import Collector
from typing_extensions import override

from proxy.telemetry.metric import Metric

_REQUEST_ID: Final = "request_id"
# OpenMetrics bounds name and value together by 128 characters. Quotes and the like are valid when
# escaped, but there are parsers that lose the whole page over them.
_FIT: Final = re.compile(rf"[A-Za-z0-9._:/+=@~-]{{1,{128 - len(_REQUEST_ID)}}}")

_Bucket = tuple[str, float] | tuple[str, float, Exemplar]


@dataclass(frozen=True, slots=True)
class Trace:
    """Whose sample it was, and when, in Unix seconds."""

    labels: dict[str, str]
    at: float


def trace_of(request_id: str, at: float) -> Trace | None:
    """None for an id that cannot stand in an exemplar: clients may choose it."""
    return Trace({_REQUEST_ID: request_id}, at) if _FIT.fullmatch(request_id) else None


class Histogram:
    """One child: how many samples lie in each bucket, their sum, and the newest trace of each."""

    __slots__ = ("_counts", "_edges", "_newest", "_sum")

    def __init__(self, edges: tuple[float, ...]) -> None:
        self._edges = edges
        self._counts = [0] * (len(edges) + 1)
        self._newest: list[tuple[float, Trace] | None] = [None] * (len(edges) + 1)
        self._sum = 0.0

    def observe(self, value: float, trace: Trace | None = None) -> None:
        bucket = bisect_left(self._edges, value)
        self._counts[bucket] += 1
        self._sum += value
        if trace is not None:
            self._newest[bucket] = (value, trace)

    def read(self) -> tuple[list[_Bucket], float]:
        """Cumulated buckets and the sum; any thread may ask."""
        counts, newest, total = self._counts.copy(), self._newest.copy(), self._sum
        bounds = (*map(str, self._edges), "+Inf")
        return [
            (bound, float(count), Exemplar(seen[1].labels, seen[0], seen[1].at))
            if seen is not None
            else (bound, float(count))
            for bound, count, seen in zip(bounds, accumulate(counts), newest, strict=True)
        ], total


class HistogramFamily(Collector):
    """All children of one metric, by their label values."""

    def __init__(self, metric: Metric, children: Mapping[tuple[str, ...], Histogram]) -> None:
        self._metric = metric
        self._children = children

    def describe(self) -> Iterator[HistogramMetricFamily]:
        """The family without samples: the registry refuses a second one of its name."""
        yield self._family()

    @override
    def collect(self) -> Iterator[HistogramMetricFamily]:
        family = self._family()
        for values, child in self._children.items():
            buckets, total = child.read()
            family.add_metric(values, buckets, total)
        yield family

    def _family(self) -> HistogramMetricFamily:
        labels = [label.name for label in self._metric.labels]
        return HistogramMetricFamily(self._metric.family, self._metric.meaning, labels=labels)
