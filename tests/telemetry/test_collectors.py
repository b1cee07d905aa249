import pytest

from proxy.telemetry.labels import GATE, STREAM
from proxy.telemetry.metric import Kind, Metric
from tests.fakes.metrics import Bench

COUNTED = Metric("counted", Kind.COUNTER, "counts", "things", "q", labels=(GATE, STREAM))


def test_every_child_of_known_values_exists_from_the_start() -> None:
    bench = Bench()

    bench.collectors.counters(COUNTED)

    assert bench.samples() == {
        'counted_total{gate="strict_json",stream="true"}': 0,
        'counted_total{gate="strict_json",stream="false"}': 0,
    }


def test_child_that_was_left_out_is_there_once_it_counts() -> None:
    bench = Bench()
    counters = bench.collectors.counters(COUNTED, lambda values: values[1] == "true")
    before = bench.samples()

    counters["strict_json", "false"].inc()

    assert set(before) == {'counted_total{gate="strict_json",stream="true"}'}
    assert bench.samples()['counted_total{gate="strict_json",stream="false"}'] == 1


def test_child_that_is_made_twice_keeps_its_count() -> None:
    counters = Bench().collectors.counters(COUNTED)
    child = counters["strict_json", "true"]

    counters.make([("strict_json", "true")])

    assert counters["strict_json", "true"] is child


@pytest.mark.parametrize("has_objective", [True, False])
def test_objective_is_an_edge_where_the_metric_says_so(has_objective: bool) -> None:
    bench = Bench()
    metric = Metric(
        *("seconds", Kind.HISTOGRAM, "time", "seconds", "q"),
        edges=(0.1, 1.0),
        has_objective=has_objective,
    )

    bench.collectors.histogram(metric).observe(0.3)

    assert bench.samples().get('seconds_bucket{le="0.33"}') == (1 if has_objective else None)
    assert bench.samples()['seconds_bucket{le="0.1"}'] == 0


def test_series_of_their_time_of_making_are_not_on_the_page() -> None:
    bench = Bench()

    bench.collectors.counters(COUNTED)

    assert not any("_created" in name for name in bench.samples())
