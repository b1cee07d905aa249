import pytest

from proxy.telemetry.histogram import trace_of
from proxy.telemetry.latency_metrics import LatencyMetrics
from tests.fakes.metrics import ATTEMPT, Bench, request_record

MEASURED = request_record(
    attempts=(ATTEMPT,),
    duration_seconds=2.0,
    queue_seconds=0.02,
    overhead_seconds=0.0003,
    ttfr_seconds=0.2,
    ttft_seconds=0.3,
    hold_seconds=0.1,
    tokens_per_second=64.0,
)
SUMS = {
    "request_duration_seconds_sum": 2.0,
    "queue_seconds_sum": 0.02,
    "overhead_seconds_sum": 0.0003,
    'upstream_time_to_first_response_seconds_sum{stream="true"}': 0.13,
    'time_to_first_response_seconds_sum{stream="true"}': 0.2,
    "time_to_first_token_seconds_sum": 0.3,
    "hold_seconds_sum": 0.1,
    "output_tokens_per_second_sum": 64.0,
}


def test_each_time_of_a_request_is_a_sample() -> None:
    bench = Bench()

    LatencyMetrics(bench.collectors).add(MEASURED, None)

    samples = bench.samples()
    assert {name: samples[name] for name in SUMS} == pytest.approx(SUMS)
    assert samples['time_to_first_response_seconds_count{stream="false"}'] == 0


def test_every_sample_leads_to_its_request() -> None:
    bench = Bench()

    LatencyMetrics(bench.collectors).add(MEASURED, trace_of("r7", 102.0))

    found = bench.exemplars()
    assert {name.partition("_bucket")[0] for name in found} == {
        name.partition("_sum")[0] for name in SUMS
    }
    assert {(each.labels["request_id"], each.at) for each in found.values()} == {("r7", 102.0)}


def test_request_that_called_no_upstream_has_only_its_duration() -> None:
    bench = Bench()

    LatencyMetrics(bench.collectors).add(request_record(duration_seconds=0.001), None)

    counts = {name: n for name, n in bench.samples().items() if "_count" in name}
    assert {name for name, count in counts.items() if count} == {"request_duration_seconds_count"}


def test_objective_is_an_edge_of_what_comes_first() -> None:
    bench = Bench()

    LatencyMetrics(bench.collectors)

    with_objective = {name for name in bench.samples() if 'le="0.33"' in name}
    assert {name.partition("_bucket")[0] for name in with_objective} == {
        "upstream_time_to_first_response_seconds",
        "time_to_first_response_seconds",
        "time_to_first_token_seconds",
    }
