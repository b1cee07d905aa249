from dataclasses import replace

import pytest

from proxy.contract.ladder import Failure, Ladder, last_step
from proxy.contract.policy import Attempts, Step, StepKind
from proxy.errors import Fault
from proxy.gates.base import Result, Verdict
from proxy.telemetry.outcome import AttemptStep
from tests.fakes.policies import ATTEMPTS, FakeGate, failed, rule

FAILED = [Failure(rule(), failed())]


def _ladder(attempts: Attempts = ATTEMPTS, deadline: float = 100.0) -> Ladder:
    return Ladder(attempts, deadline)


def _next(
    ladder: Ladder,
    failures: list[Failure] | None = None,
    *,
    cold: bool = False,
    tokens: int = 0,
    now: float = 0.0,
) -> AttemptStep | StepKind:
    return ladder.after_failures(failures or FAILED, cold=cold, tokens=tokens, now=now)


def test_each_failed_attempt_takes_the_next_step_of_a_warm_ladder() -> None:
    ladder = _ladder()

    steps = [_next(ladder) for _ in range(3)]

    assert steps == [AttemptStep.VARY, AttemptStep.REASK, StepKind.REJECT]


def test_each_ladder_of_a_gate_is_climbed_by_itself() -> None:
    steps = {
        "typed": (Step(StepKind.REASK), Step(StepKind.REJECT)),
        "soft": (Step(StepKind.VARY), Step(StepKind.FLAG)),
    }
    two = replace(rule(FakeGate("evidence")), ladder=steps["typed"], ladders=steps)
    ladder = _ladder(replace(ATTEMPTS, max_attempts=9))

    def after(name: str) -> AttemptStep | StepKind:
        return _next(ladder, [Failure(two, failed(gate="evidence", ladder=name))])

    assert after("typed") is AttemptStep.REASK
    assert after("soft") is AttemptStep.VARY
    assert after("soft") is StepKind.FLAG
    assert after("typed") is StepKind.REJECT


def test_end_of_a_verdict_is_that_of_the_ladder_it_names() -> None:
    steps = {"typed": (Step(StepKind.REJECT),), "soft": (Step(StepKind.FLAG),)}
    two = replace(rule(FakeGate("evidence")), ladder=steps["typed"], ladders=steps)

    assert last_step(Failure(two, failed(ladder="soft"))).kind is StepKind.FLAG
    assert last_step(Failure(two, failed())).kind is StepKind.REJECT


def test_cold_engine_first_repeats_the_identical_request_once() -> None:
    ladder = _ladder()

    steps = [_next(ladder, cold=True) for _ in range(3)]

    assert steps == [AttemptStep.COLD, AttemptStep.VARY, StepKind.REJECT]


def test_cold_repeat_can_be_switched_off() -> None:
    ladder = _ladder(replace(ATTEMPTS, cold=False))

    assert _next(ladder, cold=True) is AttemptStep.VARY


def test_cold_repeat_belongs_to_strict_json_alone() -> None:
    other = Failure(rule(FakeGate("length")), failed(gate="length"))

    assert _next(_ladder(), [other], cold=True) is AttemptStep.VARY


@pytest.mark.parametrize("most", [1, 2, 3])
def test_max_attempts_counts_the_first_call(most: int) -> None:
    ladder = _ladder(replace(ATTEMPTS, max_attempts=most))

    calls = 1
    while isinstance(_next(ladder), AttemptStep):
        calls += 1

    assert calls == most


def test_deadline_takes_the_last_step_at_once() -> None:
    assert _next(_ladder(deadline=5.0), now=5.0) is StepKind.REJECT


def test_spent_tokens_take_the_last_step_at_once() -> None:
    ladder = _ladder(replace(ATTEMPTS, max_extra_tokens=100))

    assert _next(ladder, tokens=60) is AttemptStep.VARY
    assert _next(ladder, tokens=60) is StepKind.REJECT


def test_truncation_is_never_retried() -> None:
    truncated = Failure(rule(), failed(Fault.TRUNCATED))

    assert _next(_ladder(), [truncated], cold=True) is StepKind.REJECT


def test_gate_that_failed_itself_ends_by_on_error() -> None:
    broken = Failure(rule(on_error=StepKind.DELIVER), Verdict("strict_json", Result.ERROR))

    assert _next(_ladder(), [broken]) is StepKind.DELIVER


def test_of_several_failed_gates_the_one_that_ends_decides() -> None:
    soft = Failure(rule(FakeGate("length"), (StepKind.DELIVER,)), failed(gate="length"))
    hard = Failure(rule(ladder=(StepKind.REJECT,)), failed())
    again = Failure(rule(FakeGate("tools"), (StepKind.VARY, StepKind.REJECT)), failed(gate="tools"))

    assert _next(_ladder(), [soft, hard, again]) is StepKind.REJECT
    assert _next(_ladder(), [soft, again]) is AttemptStep.VARY


def test_upstream_fault_is_repeated_once() -> None:
    ladder = _ladder()

    assert ladder.after_upstream_fault(0.0) is AttemptStep.UPSTREAM_FAULT
    assert ladder.after_upstream_fault(0.0) is None


def test_upstream_fault_counts_as_an_attempt() -> None:
    ladder = _ladder(replace(ATTEMPTS, max_attempts=2))

    ladder.after_upstream_fault(0.0)

    assert _next(ladder) is StepKind.REJECT


def test_upstream_faults_can_be_left_alone() -> None:
    ladder = _ladder(replace(ATTEMPTS, upstream_faults=False))

    assert ladder.after_upstream_fault(0.0) is None
