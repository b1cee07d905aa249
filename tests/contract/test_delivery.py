import json

import pytest

from proxy.contract.attempt import Attempt
from proxy.contract.attempts import Settled
from proxy.contract.delivery import deliver, outcome_of, rejection, relay_error_reply, repairs_of
from proxy.contract.judging import Judged
from proxy.contract.policy import StepKind
from proxy.errors import BadReply, Fault
from proxy.gates.base import Repair, Repaired, Result, Verdict
from proxy.telemetry.outcome import AttemptStep, Outcome
from tests.fakes.job import ASKED, FakeClient, headers_named, job_of
from tests.fakes.lane import FakeLane
from tests.fakes.policies import FakeGate, failed, policy, rule
from tests.fakes.upstream import completion

REPAIRED = Verdict("strict_json", Result.PASS, repaired={0: Repaired("{}", (Repair.UNWRAP_FENCE,))})
JOB = job_of(FakeLane(), policy(rule()), ASKED)


def _attempt(*verdicts: Verdict, status: int = 200, enforced: bool = True) -> Attempt:
    attempt = Attempt(1, AttemptStep.FIRST, began=0.0)
    attempt.status = status
    attempt.body = completion("```{}```").pieces[0]
    attempt.judged = tuple(Judged(rule(), verdict, enforced) for verdict in verdicts)
    return attempt


@pytest.mark.parametrize(
    ("attempt", "end", "outcome"),
    [
        (_attempt(), StepKind.DELIVER, Outcome.PASSED),
        (_attempt(REPAIRED), StepKind.DELIVER, Outcome.REPAIRED),
        (_attempt(REPAIRED, enforced=False), StepKind.DELIVER, Outcome.PASSED),
        (_attempt(failed()), StepKind.REJECT, Outcome.REJECTED),
        (_attempt(status=404), StepKind.DELIVER, Outcome.REFUSED),
        (_attempt(status=503), StepKind.DELIVER, Outcome.UPSTREAM_FAILED),
    ],
    ids=["passed", "repaired", "observed", "rejected", "refused", "failed"],
)
def test_outcome_says_how_a_reply_ended(attempt: Attempt, end: StepKind, outcome: Outcome) -> None:
    assert outcome_of(attempt, end) is outcome


def test_gates_that_only_observe_repair_nothing() -> None:
    assert repairs_of(_attempt(REPAIRED, enforced=False)) == {}


async def test_repaired_content_replaces_the_old_one() -> None:
    client = FakeClient()
    attempt = _attempt(REPAIRED)

    settled = Settled(attempt, StepKind.DELIVER)
    await deliver(JOB, client, settled, [attempt], Outcome.REPAIRED)

    assert json.loads(client.body)["choices"][0]["message"]["content"] == "{}"


async def test_whole_reply_after_a_begun_stream_is_an_error() -> None:
    client = FakeClient(started=True)

    with pytest.raises(BadReply):
        await deliver(
            JOB, client, Settled(_attempt(), StepKind.DELIVER), [_attempt()], Outcome.PASSED
        )


async def test_advice_to_resend_of_the_upstream_is_not_handed_on() -> None:
    attempt = _attempt(status=429)
    attempt.headers = [("x-should-retry", "true"), ("retry-after", "3")]
    client = FakeClient()

    await relay_error_reply(JOB, client, [attempt], Outcome.REFUSED)

    assert headers_named(client.headers, "x-should-retry") == ["false"]
    assert client.header("retry-after") == "3"


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        (failed(Fault.DUPLICATE_KEY), "duplicate_key"),
        (Verdict("strict_json", Result.ERROR, reason="broke"), "gate_rejected"),
    ],
    ids=["fail", "error"],
)
def test_code_of_a_rejection_is_the_fault_where_there_is_one(verdict: Verdict, code: str) -> None:
    attempt = _attempt(verdict)

    assert rejection(Settled(attempt, StepKind.REJECT), [attempt]).code == code


def test_rejection_at_another_end_names_the_first_failure() -> None:
    attempt = _attempt()
    judged = Judged(rule(FakeGate("soft"), (StepKind.DELIVER,)), failed(reason="r"), enforced=True)
    attempt.judged = (judged,)

    error = rejection(Settled(attempt, StepKind.REJECT), [attempt, attempt])

    assert error.message == "The reply failed the gate soft after 2 attempts: r"
