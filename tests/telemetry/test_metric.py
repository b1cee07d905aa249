import pytest

from proxy.telemetry.metric import Kind, Metric


@pytest.mark.parametrize(
    ("kind", "full_name"),
    [
        (Kind.COUNTER, "sluicegate_seen_total"),
        (Kind.GAUGE, "sluicegate_seen"),
        (Kind.HISTOGRAM, "sluicegate_seen"),
    ],
)
def test_metric_is_listed_as_prometheus_lists_its_kind(kind: Kind, full_name: str) -> None:
    metric = Metric("seen", kind, "what was seen", "things", "q")

    assert (metric.family, metric.full_name) == ("sluicegate_seen", full_name)


def test_metric_that_all_programs_have_keeps_its_shared_name() -> None:
    metric = Metric("seen", Kind.GAUGE, "what was seen", "things", "q", prefix="process_")

    assert metric.full_name == "process_seen"
