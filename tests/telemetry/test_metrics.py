from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from prometheus_client import CollectorRegistry

from proxy.errors import Fault
from proxy.telemetry.engine_start import EngineStartRecord, FirstAnswer, StartSource
from proxy.telemetry.metrics import Metrics
from proxy.telemetry.outcome import (
    AttemptResult,
    AttemptStep,
    Endpoint,
    JudgeResult,
    Outcome,
    ProbeResult,
    ReadyWait,
    Unchecked,
)
from proxy.telemetry.record import AttemptRecord, RequestRecord, VerdictRecord

VERDICT = VerdictRecord("strict_json", "fail", enforced=True, seconds=0.001, fault=Fault.NOT_JSON)
ATTEMPT = AttemptRecord(
    number=1,
    step=AttemptStep.FIRST,
    result=AttemptResult.INVALID,
    status=200,
    cold=True,
    seconds=1.0,
    faults=(Fault.NOT_JSON,),
    ttfr_seconds=0.13,
    verdicts=(VERDICT,),
)


def _record(**more: Any) -> RequestRecord:
    basics: Mapping[str, Any] = {
        "id": "r",
        "received_at": 0.0,
        "endpoint": Endpoint.CHAT,
        "outcome": Outcome.PASSED,
        "status": 200,
        "stream": True,
    }
    return RequestRecord(**{**basics, **more})


def _metrics() -> Metrics:
    return Metrics(CollectorRegistry(), gates=["strict_json"], repairs=["unwrap_fence"])


def _samples(metrics: Metrics) -> dict[str, float]:
    lines = metrics.page()[0].decode().splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name.removeprefix("sluicegate_"): float(value) for name, value in pairs}


def test_every_child_exists_before_the_first_request() -> None:
    samples = _samples(_metrics())

    assert samples['requests_total{endpoint="chat",outcome="rejected"}'] == 0
    assert samples['verdicts_total{gate="strict_json",result="error"}'] == 0
    assert samples['faults_total{fault="upstream_idle"}'] == 0


def test_delivered_request_is_counted_in_all_its_parts() -> None:
    metrics = _metrics()

    metrics.add(
        _record(
            attempts=(ATTEMPT,),
            repairs=("unwrap_fence",),
            unchecked=(Unchecked.PATTERN,),
            ttfr_seconds=0.2,
            ttft_seconds=0.3,
            hold_seconds=0.1,
            tokens_per_second=64.0,
            prompt_tokens=9,
            completion_tokens=3,
            failed_attempt_tokens=4,
        )
    )

    samples = _samples(metrics)
    assert samples['requests_total{endpoint="chat",outcome="passed"}'] == 1
    assert samples['attempts_total{result="invalid",step="first"}'] == 1
    assert samples['verdicts_total{gate="strict_json",result="fail"}'] == 1
    assert samples['faults_total{fault="not_json"}'] == 1
    assert samples['gate_duration_seconds_count{gate="strict_json"}'] == 1
    assert samples['repairs_total{repair="unwrap_fence"}'] == 1
    assert samples['unchecked_total{reason="pattern"}'] == 1
    assert samples['time_to_first_response_seconds_count{stream="true"}'] == 1
    assert samples['upstream_time_to_first_response_seconds_count{stream="true"}'] == 1
    assert samples["time_to_first_token_seconds_count"] == 1
    assert samples["hold_seconds_count"] == 1
    assert samples["output_tokens_per_second_sum"] == pytest.approx(64.0)
    assert samples["prompt_tokens_total"] == 9
    assert samples["output_tokens_total"] == 3
    assert samples["failed_attempt_tokens_total"] == 4


def test_refused_request_counts_as_such_and_measures_no_upstream() -> None:
    metrics = _metrics()

    metrics.add(_record(outcome=Outcome.REFUSED, status=400))

    samples = _samples(metrics)
    assert samples['requests_total{endpoint="chat",outcome="refused"}'] == 1
    assert samples["queue_seconds_count"] == 0


def test_usage_below_zero_counts_as_nothing() -> None:
    metrics = _metrics()

    metrics.add(_record(attempts=(ATTEMPT,), prompt_tokens=-1, completion_tokens=-5))

    samples = _samples(metrics)
    assert samples["prompt_tokens_total"] == 0
    assert samples["output_tokens_total"] == 0


def test_state_of_an_engine_and_source_of_its_starts_are_one_of_each() -> None:
    metrics = _metrics()
    state, source = ["cold"], ["metrics"]
    metrics.watch_engine("main", ("cold", "certified"), lambda: state[0], lambda: source[0])
    metrics.watch_load(lambda: 2, lambda: 7)

    state[0], source[0] = "certified", "fallback"

    samples = _samples(metrics)
    assert samples['engine_state{lane="main",state="cold"}'] == 0
    assert samples['engine_state{lane="main",state="certified"}'] == 1
    assert samples['engine_starts_told_by{lane="main",source="metrics"}'] == 0
    assert samples['engine_starts_told_by{lane="main",source="fallback"}'] == 1
    assert samples['engine_starts_total{first_answer="valid",lane="main"}'] == 0
    assert (samples["requests_in_flight"], samples["queue_depth"]) == (2, 7)


START = EngineStartRecord("main", "1.0", StartSource.METRICS, seen_at=2.0)
INVALID = replace(START, first_answer=FirstAnswer.INVALID)
OVER = replace(START, over_at=9.0)
NEXT = replace(START, key="2.0")


@pytest.mark.parametrize(
    ("records", "counted"),
    [
        ([START], {}),
        ([START, INVALID], {"invalid": 1}),
        ([START, INVALID, replace(INVALID, over_at=9.0), NEXT], {"invalid": 1}),
        ([START, OVER, NEXT], {"unknown": 1}),
        ([START, OVER, NEXT, replace(NEXT, over_at=10.0)], {"unknown": 2}),
        ([INVALID, replace(INVALID, certified_at=3.0)], {}),
        ([INVALID, replace(INVALID, over_at=9.0), NEXT], {}),
    ],
    ids=["begun", "judged", "judged_and_over", "over", "two_over", "known", "known_and_over"],
)
def test_engine_start_is_counted_once_and_not_again_after_a_restart_of_the_proxy(
    records: Sequence[EngineStartRecord], counted: Mapping[str, int]
) -> None:
    metrics = _metrics()
    metrics.watch_engine("main", (), lambda: "", lambda: "")

    for record in records:
        metrics.start(record)

    samples = _samples(metrics)
    assert {
        answer: samples[f'engine_starts_total{{first_answer="{answer}",lane="main"}}']
        for answer in FirstAnswer
        if samples[f'engine_starts_total{{first_answer="{answer}",lane="main"}}']
    } == counted


def test_info_says_what_runs_and_without_rows_nothing() -> None:
    metrics = _metrics()
    metrics.info("policy_info", "Policies.", [{"policy": "a", "hash": "1"}])
    metrics.info("nothing_info", "Nothing.", [])

    samples = _samples(metrics)
    assert samples['policy_info{hash="1",policy="a"}'] == 1
    assert not any(name.startswith("nothing") for name in samples)


def test_lines_lost_are_counted() -> None:
    metrics = _metrics()

    metrics.log_dropped()

    assert _samples(metrics)["log_dropped_total"] == 1


def test_records_that_failed_and_those_the_ledger_lost_are_counted() -> None:
    metrics = _metrics()

    metrics.records_failed(2)
    metrics.ledger_dropped(3)

    samples = _samples(metrics)
    assert samples["records_failed_total"] == 2
    assert samples["ledger_dropped_total"] == 3


def test_ledger_has_a_gauge_only_where_there_is_one() -> None:
    metrics, works = _metrics(), [True]
    before = _samples(metrics)
    metrics.watch_ledger(lambda: works[0])

    up = _samples(metrics)["ledger_up"]
    works[0] = False

    assert "ledger_up" not in before
    assert (up, _samples(metrics)["ledger_up"]) == (1, 0)


def test_objective_is_an_edge_of_the_histogram() -> None:
    metrics = Metrics(CollectorRegistry(), slo_ttfr_seconds=0.33)

    assert b'time_to_first_response_seconds_bucket{le="0.33",stream="true"}' in metrics.page()[0]


def test_page_speaks_open_metrics_when_asked() -> None:
    page, content_type = _metrics().page(open_metrics=True)

    assert content_type.startswith("application/openmetrics-text")
    assert page.endswith(b"# EOF\n")


def test_probe_is_counted_apart_from_requests() -> None:
    metrics = _metrics()
    metrics.watch_ready("main", lambda: 3)

    metrics.probe("main", ProbeResult.INVALID, 12)
    metrics.probe("main", ProbeResult.VALID, -1)

    samples = _samples(metrics)
    assert samples['probes_total{lane="main",result="invalid"}'] == 1
    assert samples['probes_total{lane="main",result="valid"}'] == 1
    assert samples['probes_total{lane="main",result="failed"}'] == 0
    assert samples["probe_tokens_total"] == 12
    assert samples["output_tokens_total"] == samples["failed_attempt_tokens_total"] == 0


def test_waits_for_the_engine_are_counted_by_their_end() -> None:
    metrics = _metrics()
    metrics.watch_ready("main", lambda: 3)

    metrics.ready_wait(ReadyWait.SERVED)

    samples = _samples(metrics)
    assert samples["ready_waiting"] == 3
    assert samples['ready_waits_total{result="served"}'] == 1
    assert samples['ready_waits_total{result="gone"}'] == 0


def test_calls_of_judge_lanes_and_what_they_cleared_are_counted_apart() -> None:
    metrics = _metrics()

    metrics.judge_call(JudgeResult.ANSWERED, 1.5, 210, 31)
    metrics.judge_call(JudgeResult.TIMED_OUT, 4.0, 0, -1)
    metrics.hints_cleared(3)

    samples = _samples(metrics)
    assert samples['judge_calls_total{result="answered"}'] == 1
    assert samples['judge_calls_total{result="timed_out"}'] == 1
    assert samples['judge_calls_total{result="failed"}'] == 0
    assert samples["judge_seconds_sum"] == 5.5
    assert samples["judge_prompt_tokens_total"] == 210
    assert samples["judge_output_tokens_total"] == 31
    assert samples["hints_cleared_total"] == 3
    assert samples["output_tokens_total"] == samples["failed_attempt_tokens_total"] == 0
