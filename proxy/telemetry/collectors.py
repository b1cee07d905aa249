"""Makes what keeps the values of declared metrics, in one registry."""

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import product

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge

from proxy.telemetry.buckets import with_edge
from proxy.telemetry.histogram import Histogram, HistogramFamily
from proxy.telemetry.metric import Label, Metric

Values = tuple[str, ...]


class Counters(dict[Values, Counter]):
    """Counters of one metric by their label values; one that is asked for is there from then on."""

    def __init__(self, family: Counter) -> None:
        super().__init__()
        self._family = family

    def __missing__(self, values: Values) -> Counter:
        child = self._family.labels(*values)
        self[values] = child
        return child

    def make(self, children: Iterable[Values]) -> None:
        """Let them exist from now on, so that `rate` sees the first failure."""
        for values in children:
            self.setdefault(values, self._family.labels(*values))


class Collectors:
    """Makes collectors. `values` are those of labels whose sets the code does not close."""

    def __init__(
        self,
        registry: CollectorRegistry,
        values: Mapping[Label, Collection[str]],
        objective_seconds: float,
    ) -> None:
        # The library's switch is process-wide; `_created` series would double the page.
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = registry
        self._values = values
        self._objective_seconds = objective_seconds

    def counter(self, metric: Metric) -> Counter:
        """The one counter of a metric without labels."""
        return Counter(metric.family, metric.meaning, registry=self._registry)

    def counters(
        self, metric: Metric, happens: Callable[[Values], bool] = lambda _: True
    ) -> Counters:
        """All children whose values are known exist from the start.

        `happens` leaves out those that no request can come to.
        """
        labels = _names(metric)
        counters = Counters(Counter(metric.family, metric.meaning, labels, registry=self._registry))
        counters.make(filter(happens, self._children(metric)))
        return counters

    def gauge(self, metric: Metric) -> Gauge:
        """A gauge; its children, where it has labels, are made by who knows their values."""
        return Gauge(metric.family, metric.meaning, _names(metric), registry=self._registry)

    def histogram(self, metric: Metric) -> Histogram:
        """The one histogram of a metric without labels."""
        return self.histograms(metric)[()]

    def histograms(self, metric: Metric) -> Mapping[Values, Histogram]:
        edges = metric.edges
        if metric.has_objective:
            edges = with_edge(edges, self._objective_seconds)
        children = {values: Histogram(edges) for values in self._children(metric)}
        self._registry.register(HistogramFamily(metric, children))
        return children

    def _children(self, metric: Metric) -> list[Values]:
        sets = (label.values or self._values.get(label, ()) for label in metric.labels)
        return [tuple(map(str, values)) for values in product(*sets)]


def _names(metric: Metric) -> Values:
    return tuple(label.name for label in metric.labels)
