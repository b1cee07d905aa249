"""Metrics of judge lanes; what they cost is in no other metric."""

from typing import Final

from proxy.telemetry.buckets import WAIT_SECONDS
from proxy.telemetry.collectors import Collectors
from proxy.telemetry.labels import JUDGE_RESULT
from proxy.telemetry.metric import Kind, Metric
from proxy.telemetry.outcome import JudgeResult
from proxy.telemetry.queries import quantile, rate
from proxy.telemetry.request_metrics import countable

_PAGE: Final = "gates/evidence-judge.md"

CALLS: Final = Metric(
    "judge_calls",
    Kind.COUNTER,
    "calls of judge lanes",
    "calls",
    rate("sluicegate_judge_calls_total", "result"),
    labels=(JUDGE_RESULT,),
    page=_PAGE,
)
SECONDS: Final = Metric(
    "judge_seconds",
    Kind.HISTOGRAM,
    "time of a call of a judge lane; in no gate's time and no overhead",
    "seconds",
    quantile(0.95, "sluicegate_judge_seconds"),
    edges=WAIT_SECONDS,
)
PROMPT_TOKENS: Final = Metric(
    "judge_prompt_tokens",
    Kind.COUNTER,
    "prompt tokens of judge lanes, as they state them; they are in no other metric",
    "tokens",
    rate("sluicegate_judge_prompt_tokens_total"),
)
OUTPUT_TOKENS: Final = Metric(
    "judge_output_tokens",
    Kind.COUNTER,
    "output tokens of judge lanes; they are in no other metric",
    "tokens",
    rate("sluicegate_judge_output_tokens_total"),
)
HINTS_CLEARED: Final = Metric(
    "hints_cleared",
    Kind.COUNTER,
    "hints of the gate `evidence` that a judge lane disproved by quotations",
    "findings",
    rate("sluicegate_hints_cleared_total"),
    page=_PAGE,
)
METRICS: Final = (CALLS, SECONDS, PROMPT_TOKENS, OUTPUT_TOKENS, HINTS_CLEARED)


class JudgeMetrics:
    """Counts calls of judge lanes and what came of them."""

    def __init__(self, collectors: Collectors) -> None:
        self._calls = collectors.counters(CALLS)
        self._seconds = collectors.histogram(SECONDS)
        self._prompt_tokens = collectors.counter(PROMPT_TOKENS)
        self._output_tokens = collectors.counter(OUTPUT_TOKENS)
        self._hints_cleared = collectors.counter(HINTS_CLEARED)

    def call(
        self, result: JudgeResult, seconds: float, prompt_tokens: int, output_tokens: int
    ) -> None:
        self._calls[result,].inc()
        self._seconds.observe(seconds)
        self._prompt_tokens.inc(countable(prompt_tokens))
        self._output_tokens.inc(countable(output_tokens))

    def hints_cleared(self, count: int) -> None:
        self._hints_cleared.inc(count)
