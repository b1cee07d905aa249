import re

import pytest

from proxy.telemetry.catalogue import CATALOGUE
from proxy.telemetry.metric import Kind, Metric

METRICS = [pytest.param(metric, id=metric.name) for metric in CATALOGUE]


def test_no_two_metrics_have_one_name() -> None:
    names = [metric.full_name for metric in CATALOGUE]

    assert len(set(names)) == len(names)


@pytest.mark.parametrize("metric", METRICS)
def test_name_tells_the_unit_of_what_is_measured(metric: Metric) -> None:
    endings = {
        "seconds": "_seconds",
        "bytes": "_bytes",
        "tokens/second": "_tokens_per_second",
    }

    ending = endings.get(metric.unit, "")

    assert metric.name.endswith(ending)
    assert not metric.name.endswith(("_total", "_count", "_sum", "_bucket"))


@pytest.mark.parametrize("metric", METRICS)
def test_only_histograms_have_buckets(metric: Metric) -> None:
    assert bool(metric.edges) is (metric.kind is Kind.HISTOGRAM)
    assert metric.edges or not metric.has_objective


@pytest.mark.parametrize("metric", METRICS)
def test_query_asks_for_its_own_metric_and_can_stand_in_a_table(metric: Metric) -> None:
    asked = set(re.findall(rf"\b{metric.prefix}\w+", metric.query))

    assert {name.removesuffix("_bucket") for name in asked} == {metric.full_name}
    assert "|" not in metric.query


@pytest.mark.parametrize("metric", METRICS)
def test_query_names_no_label_that_the_metric_lacks(metric: Metric) -> None:
    selected = re.findall(r"(\w+)=\"", metric.query)
    grouped = re.findall(r"by \(([^)]*)\)", metric.query)

    named = {*selected, *(name for group in grouped for name in group.split(", "))}
    # `job` is Prometheus's own: a metric that all programs have needs it.
    assert named - {"le", "job"} <= {label.name for label in metric.labels}
