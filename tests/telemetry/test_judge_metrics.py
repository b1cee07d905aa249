from proxy.telemetry.judge_metrics import JudgeMetrics
from proxy.telemetry.outcome import JudgeResult
from tests.fakes.metrics import Bench


def test_calls_of_judge_lanes_and_what_they_cleared_are_counted() -> None:
    bench = Bench()
    metrics = JudgeMetrics(bench.collectors)

    metrics.call(JudgeResult.ANSWERED, 1.5, 210, 31)
    metrics.call(JudgeResult.TIMED_OUT, 4.0, 0, -1)
    metrics.hints_cleared(3)

    samples = bench.samples()
    assert samples['judge_calls_total{result="answered"}'] == 1
    assert samples['judge_calls_total{result="timed_out"}'] == 1
    assert samples['judge_calls_total{result="failed"}'] == 0
    assert samples["judge_seconds_sum"] == 5.5
    assert samples["judge_prompt_tokens_total"] == 210
    assert samples["judge_output_tokens_total"] == 31
    assert samples["hints_cleared_total"] == 3
