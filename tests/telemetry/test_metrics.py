from prometheus_client import CollectorRegistry

from proxy.telemetry.engine_start import EngineStartRecord, FirstAnswer, StartSource
from proxy.telemetry.exposition import Form
from proxy.telemetry.metrics import Metrics
from proxy.telemetry.outcome import JudgeResult, Outcome, ProbeResult
from tests.fakes.metrics import ATTEMPT, exemplars_in, request_record, samples_of


def _metrics() -> Metrics:
    return Metrics(CollectorRegistry(), gates=["strict_json"], repairs=["unwrap_fence"])


def _samples(metrics: Metrics) -> dict[str, float]:
    return samples_of(metrics.registry)


def test_request_is_counted_measured_and_judged() -> None:
    metrics = _metrics()

    metrics.add(request_record(attempts=(ATTEMPT,), ttfr_seconds=0.2))

    samples = _samples(metrics)
    assert samples['requests_total{endpoint="chat",outcome="passed"}'] == 1
    assert samples['time_to_first_response_seconds_count{stream="true"}'] == 1
    assert samples['faults_total{fault="not_json"}'] == 1


def test_refused_request_counts_as_such_and_measures_no_upstream() -> None:
    metrics = _metrics()

    metrics.add(request_record(outcome=Outcome.REFUSED, status=400))

    samples = _samples(metrics)
    assert samples['requests_total{endpoint="chat",outcome="refused"}'] == 1
    assert samples["queue_seconds_count"] == 0


def test_exemplars_tell_the_request_and_the_instant_of_its_end() -> None:
    metrics = _metrics()

    metrics.add(request_record(id="r7", received_at=100.0, duration_seconds=2.5))

    page = metrics.page(Form.OPEN_METRICS).decode()
    found = exemplars_in(page)["request_duration_seconds_bucket 2.5"]
    assert (found.labels, found.value, found.at) == ({"request_id": "r7"}, 2.5, 102.5)


def test_request_whose_id_fits_no_exemplar_is_counted_without_one() -> None:
    metrics = _metrics()

    metrics.add(request_record(id="x" * 119, outcome=Outcome.REJECTED, attempts=(ATTEMPT,)))

    assert exemplars_in(metrics.page(Form.OPEN_METRICS).decode()) == {}
    assert _samples(metrics)['requests_total{endpoint="chat",outcome="rejected"}'] == 1


def test_tokens_of_probes_and_judges_are_in_no_other_metric() -> None:
    metrics = _metrics()

    metrics.probe("main", ProbeResult.VALID, 12)
    metrics.judge_call(JudgeResult.ANSWERED, 1.5, 210, 31)

    samples = _samples(metrics)
    assert samples["probe_tokens_total"] == 12
    assert samples["judge_output_tokens_total"] == 31
    assert samples["output_tokens_total"] == samples["failed_attempt_tokens_total"] == 0
    assert samples["prompt_tokens_total"] == 0


def test_start_of_an_engine_is_counted_when_its_first_answer_is_judged() -> None:
    metrics = _metrics()

    for answer in (FirstAnswer.UNKNOWN, FirstAnswer.INVALID):
        metrics.start(
            EngineStartRecord("main", "1.0", StartSource.METRICS, 2.0, first_answer=answer)
        )

    assert _samples(metrics)['engine_starts_total{first_answer="invalid",lane="main"}'] == 1


def test_objective_is_an_edge_of_the_histogram() -> None:
    metrics = Metrics(CollectorRegistry(), slo_ttfr_seconds=0.33)

    assert b'time_to_first_response_seconds_bucket{le="0.33",stream="true"}' in metrics.page()


def test_page_speaks_open_metrics_when_asked() -> None:
    page = _metrics().page(Form.OPEN_METRICS)

    assert page.endswith(b"# EOF\n")
