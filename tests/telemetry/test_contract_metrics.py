from msgspec.structs import replace

from proxy.telemetry.contract_metrics import ContractMetrics
from proxy.telemetry.histogram import trace_of
from proxy.telemetry.outcome import AttemptStep, Unchecked
from tests.fakes.metrics import ATTEMPT, Bench, request_record


def test_every_failure_is_there_before_it_happens() -> None:
    bench = Bench()

    ContractMetrics(bench.collectors)

    samples = bench.samples()
    assert samples['verdicts_total{gate="strict_json",result="error"}'] == 0
    assert samples['faults_total{fault="upstream_idle"}'] == 0
    assert samples['attempts_total{result="invalid",step="cold"}'] == 0
    assert samples['repairs_total{repair="unwrap_fence"}'] == 0


def test_step_that_follows_a_verdict_is_never_unjudged() -> None:
    bench = Bench()

    ContractMetrics(bench.collectors)

    relayed = {name for name in bench.samples() if 'result="relayed"' in name}
    assert relayed == {
        f'attempts_total{{result="relayed",step="{step}"}}'
        for step in (AttemptStep.FIRST, AttemptStep.WAITED, AttemptStep.UPSTREAM_FAULT)
    }


def test_request_is_counted_in_all_its_parts() -> None:
    bench = Bench()
    second = replace(ATTEMPT, number=2, step=AttemptStep.VARY)

    ContractMetrics(bench.collectors).add(
        request_record(
            attempts=(ATTEMPT, second),
            repairs=("unwrap_fence",),
            unchecked=(Unchecked.PATTERN,),
        ),
        None,
    )

    samples = bench.samples()
    assert samples['attempts_total{result="invalid",step="first"}'] == 1
    assert samples['attempts_total{result="invalid",step="vary"}'] == 1
    assert samples['verdicts_total{gate="strict_json",result="fail"}'] == 2
    assert samples['faults_total{fault="not_json"}'] == 2
    assert samples['gate_duration_seconds_count{gate="strict_json"}'] == 2
    assert samples['repairs_total{repair="unwrap_fence"}'] == 1
    assert samples['unchecked_total{reason="pattern"}'] == 1


def test_fault_and_time_of_a_gate_lead_to_their_request() -> None:
    bench = Bench()

    ContractMetrics(bench.collectors).add(
        request_record(attempts=(ATTEMPT,)), trace_of("r7", 102.0)
    )

    assert {name: each.labels["request_id"] for name, each in bench.exemplars().items()} == {
        "faults_total not_json": "r7",
        "gate_duration_seconds_bucket strict_json 0.001": "r7",
    }
