import pytest

from proxy.telemetry.histogram import trace_of
from proxy.telemetry.outcome import Endpoint, Outcome
from proxy.telemetry.request_metrics import RequestMetrics, countable
from tests.fakes.metrics import ATTEMPT, Bench, request_record

TRACE = trace_of("r", 101.0)


def test_outcomes_of_chat_exist_before_the_first_request() -> None:
    bench = Bench()

    RequestMetrics(bench.collectors)

    samples = bench.samples()
    assert all(
        samples[f'requests_total{{endpoint="chat",outcome="{outcome}"}}'] == 0
        for outcome in Outcome
    )


def test_outcome_of_a_gate_is_left_out_where_no_gate_judges() -> None:
    bench = Bench()

    RequestMetrics(bench.collectors)

    samples = bench.samples()
    assert 'requests_total{endpoint="other",outcome="rejected"}' not in samples
    assert samples['requests_total{endpoint="other",outcome="refused"}'] == 0


def test_tokens_are_those_of_requests_that_called_an_upstream() -> None:
    bench = Bench()
    metrics = RequestMetrics(bench.collectors)
    tokens = {"prompt_tokens": 9, "completion_tokens": 3, "failed_attempt_tokens": 4}

    metrics.add(request_record(**tokens), TRACE)
    metrics.add(request_record(**tokens, attempts=(ATTEMPT,)), TRACE)

    samples = bench.samples()
    assert samples['requests_total{endpoint="chat",outcome="passed"}'] == 2
    assert samples["prompt_tokens_total"] == 9
    assert samples["output_tokens_total"] == 3
    assert samples["failed_attempt_tokens_total"] == 4


def test_exemplar_leads_to_the_last_request_that_did_not_pass() -> None:
    bench = Bench()
    metrics = RequestMetrics(bench.collectors)

    for number, outcome in enumerate((Outcome.REJECTED, Outcome.REJECTED, Outcome.PASSED)):
        metrics.add(request_record(outcome=outcome), trace_of(f"r{number}", 101.0))
    metrics.add(request_record(outcome=Outcome.FLAGGED), None)

    found = bench.exemplars()
    assert {name: each.labels for name, each in found.items()} == {
        "requests_total chat rejected": {"request_id": "r1"}
    }


def test_load_is_read_when_the_page_is_rendered() -> None:
    bench, load = Bench(), [2, 7]
    RequestMetrics(bench.collectors).watch(lambda: load[0], lambda: load[1])

    load[:] = [3, 8]

    samples = bench.samples()
    assert (samples["requests_in_flight"], samples["queue_depth"]) == (3, 8)


@pytest.mark.parametrize(("claimed", "counted"), [(None, 0), (-5, 0), (3, 3)])
def test_claim_below_zero_counts_as_nothing(claimed: int | None, counted: int) -> None:
    assert countable(claimed) == counted


def test_surface_that_no_gate_judges_is_counted_nevertheless() -> None:
    bench = Bench()
    metrics = RequestMetrics(bench.collectors)

    metrics.add(request_record(endpoint=Endpoint.RESPONSES, outcome=Outcome.REJECTED), TRACE)

    assert bench.samples()['requests_total{endpoint="responses",outcome="rejected"}'] == 1
