from collections.abc import Mapping, Sequence

import pytest
from msgspec.structs import replace

from proxy.telemetry.engine_metrics import EngineMetrics
from proxy.telemetry.engine_start import EngineStartRecord, FirstAnswer, StartSource
from proxy.telemetry.outcome import ProbeResult, ReadyWait
from tests.fakes.metrics import Bench


def test_state_of_an_engine_and_source_of_its_starts_are_one_of_each() -> None:
    bench, state, source = Bench(), ["cold"], ["metrics"]
    metrics = EngineMetrics(bench.collectors)
    metrics.watch("main", ("cold", "certified"), lambda: state[0], lambda: source[0])

    state[0], source[0] = "certified", "fallback"

    samples = bench.samples()
    assert samples['engine_state{lane="main",state="cold"}'] == 0
    assert samples['engine_state{lane="main",state="certified"}'] == 1
    assert samples['engine_starts_told_by{lane="main",source="metrics"}'] == 0
    assert samples['engine_starts_told_by{lane="main",source="fallback"}'] == 1
    assert samples['engine_starts_total{first_answer="valid",lane="main"}'] == 0


def test_contradictions_are_shown_by_switch_and_only_where_there_is_a_recipe() -> None:
    bench, contradicted = Bench(), {"model"}
    metrics = EngineMetrics(bench.collectors)
    before = bench.samples()

    metrics.watch_recipe("main", ("model", "max_model_len"), lambda: contradicted)

    samples = bench.samples()
    assert not any(name.startswith("recipe") for name in before)
    assert samples['recipe_contradictions{lane="main",switch="model"}'] == 1
    assert samples['recipe_contradictions{lane="main",switch="max_model_len"}'] == 0


def test_requests_of_a_probe_and_their_tokens_are_counted() -> None:
    bench = Bench()
    metrics = EngineMetrics(bench.collectors)
    metrics.watch_ready("main", lambda: 3)

    metrics.probe("main", ProbeResult.INVALID, 12)
    metrics.probe("main", ProbeResult.VALID, -1)

    samples = bench.samples()
    assert samples['probes_total{lane="main",result="invalid"}'] == 1
    assert samples['probes_total{lane="main",result="valid"}'] == 1
    assert samples['probes_total{lane="main",result="failed"}'] == 0
    assert samples["probe_tokens_total"] == 12


def test_waits_for_the_engine_are_counted_by_their_end() -> None:
    bench = Bench()
    metrics = EngineMetrics(bench.collectors)
    metrics.watch_ready("main", lambda: 3)

    metrics.ready_wait(ReadyWait.SERVED)

    samples = bench.samples()
    assert samples["ready_waiting"] == 3
    assert samples['ready_waits_total{result="served"}'] == 1
    assert samples['ready_waits_total{result="gone"}'] == 0


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
    bench = Bench()
    metrics = EngineMetrics(bench.collectors)
    metrics.watch("main", (), lambda: "", lambda: "")

    for record in records:
        metrics.start(record)

    samples = bench.samples()
    found = {
        answer: samples[f'engine_starts_total{{first_answer="{answer}",lane="main"}}']
        for answer in FirstAnswer
    }
    assert {answer: count for answer, count in found.items() if count} == counted
