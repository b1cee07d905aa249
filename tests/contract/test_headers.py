from proxy.contract.attempt import Attempt
from proxy.contract.headers import gate_headers, overhead_seconds
from proxy.contract.judging import Judged
from proxy.telemetry.outcome import AttemptStep, Outcome
from tests.fakes.job import FakeClock, job_of
from tests.fakes.lane import FakeLane
from tests.fakes.policies import failed, policy, rule


def _attempt(began: float, waited: float) -> Attempt:
    attempt = Attempt(1, AttemptStep.FIRST, began=began)
    attempt.waited = waited
    return attempt


def test_headers_say_outcome_attempts_policy_verdicts_and_times() -> None:
    clock = FakeClock(10.0)
    job = job_of(FakeLane(), policy(rule()), clock=clock)
    first, second = _attempt(10.0, 1.0), _attempt(11.0, 0.5)
    first.judged = (Judged(rule(), failed(), enforced=True),)
    first.first_byte = 11.5
    clock.at = 12.0

    headers = gate_headers(job, Outcome.PASSED, [first, second], first)

    assert dict(headers) == {
        "x-sluicegate-outcome": "passed",
        "x-sluicegate-attempts": "2",
        "x-sluicegate-overhead-ms": "500.00",
        "x-sluicegate-policy": "production@0123456789ab",
        "x-sluicegate-verdicts": "strict_json=fail(not_json)",
        "x-sluicegate-held-ms": "500.00",
    }


def test_reply_that_nobody_judged_was_not_held() -> None:
    job = job_of(FakeLane())

    names = [name for name, _ in gate_headers(job, Outcome.UPSTREAM_FAILED, [], None)]

    assert names == ["x-sluicegate-outcome", "x-sluicegate-attempts", "x-sluicegate-overhead-ms"]


def test_judged_stream_without_a_response_has_no_time_held() -> None:
    attempt = _attempt(0.0, 0.0)
    attempt.judged = (Judged(rule(), failed(), enforced=True),)

    names = [n for n, _ in gate_headers(job_of(FakeLane()), Outcome.PASSED, [attempt], attempt)]

    assert "x-sluicegate-held-ms" not in names


def test_overhead_is_never_below_zero() -> None:
    job = job_of(FakeLane(), clock=FakeClock(1.0))

    assert overhead_seconds(job, [_attempt(1.0, 9.0)], 1.5) == 0.0


def test_wait_for_the_answer_to_a_gate_s_question_is_no_overhead() -> None:
    job = job_of(FakeLane(), clock=FakeClock(1.0))
    attempt = _attempt(1.0, 0.25)
    attempt.judged = (Judged(rule(), failed(), enforced=True, waited=0.5),)

    assert overhead_seconds(job, [attempt], 2.0) == 0.25
