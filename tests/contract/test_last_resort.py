from dataclasses import dataclass, replace

import pytest
from typing_extensions import override

from proxy.contract.attempt import Attempt
from proxy.contract.attempts import Settled
from proxy.contract.last_resort import with_last_resort
from proxy.contract.policy import Mode, Rule, StepKind
from proxy.errors import Fault
from proxy.gates.base import Repair, Repaired, Result, Verdict
from proxy.telemetry.outcome import AttemptStep
from proxy.wire.reply import Choice, Reply
from proxy.wire.request import Request
from tests.fakes.job import job_of
from tests.fakes.lane import FakeLane
from tests.fakes.policies import FakeGate, policy, rule

LONG = "Ein Satz. Und noch einer."
TRIMMED = Repaired("Ein Satz.", (Repair.TRIM_SENTENCE,))


@dataclass
class LongestGate(FakeGate):
    """Fails replies above its length, and offers to trim them."""

    name: str = "length"
    most: int = 10
    offers: bool = True

    @override
    def judge(self, reply: Reply, request: Request) -> Verdict:
        if len(reply.choices[0].content or "") <= self.most:
            return Verdict(self.name, Result.PASS)
        resort = {0: TRIMMED} if self.offers else {}
        return Verdict(self.name, Result.FAIL, Fault.TOO_LONG, last_resort=resort)


@dataclass
class ShortestGate(FakeGate):
    """Fails replies below its length."""

    name: str = "other"
    least: int = 5

    @override
    def judge(self, reply: Reply, request: Request) -> Verdict:
        if len(reply.choices[0].content or "") >= self.least:
            return Verdict(self.name, Result.PASS)
        return Verdict(self.name, Result.FAIL, Fault.TOO_SHORT)


async def _resorted(*rules: Rule, cut: bool = False) -> Settled:
    """What becomes of a long reply whose ladder has ended in `reject`."""
    job = job_of(FakeLane(), policy(*rules))
    reply = Reply((Choice(0, LONG, finish_reason="stop"),))
    judged = await job.parts.judge.judge_all(job.plan, reply, job.request)
    attempt = Attempt(1, AttemptStep.FIRST, 0.0, reply=reply, judged=judged, cut=cut)
    return await with_last_resort(job, Settled(attempt, StepKind.REJECT))


def _verdicts(settled: Settled) -> list[Verdict]:
    return [judged.verdict for judged in settled.attempt.judged]


async def test_reply_that_can_be_put_right_is_delivered_repaired() -> None:
    settled = await _resorted(rule(LongestGate()), rule(ShortestGate(least=5)))

    assert settled.end is StepKind.DELIVER
    assert not settled.attempt.failures
    assert _verdicts(settled) == [
        Verdict("length", Result.PASS, repaired={0: TRIMMED}),
        Verdict("other", Result.PASS),
    ]


@pytest.mark.parametrize(
    ("rules", "cut"),
    [
        ((rule(LongestGate(offers=False)),), False),
        ((rule(LongestGate()), rule(LongestGate("second", offers=False))), False),
        ((rule(LongestGate()), rule(ShortestGate(least=20))), False),
        ((rule(LongestGate(most=5)),), False),
        ((rule(LongestGate()),), True),
    ],
    ids=["no_offer", "one_without", "another_objects", "not_enough", "cut"],
)
async def test_reply_that_stays_wrong_keeps_its_end_and_its_verdicts(
    rules: tuple[Rule, ...], *, cut: bool
) -> None:
    settled = await _resorted(*rules, cut=cut)

    assert settled.end is StepKind.REJECT
    assert settled.attempt.failures
    assert all(not verdict.repaired for verdict in _verdicts(settled))


async def test_reply_that_passed_is_left_alone() -> None:
    settled = await _resorted(rule(LongestGate(most=99)))

    assert settled.end is StepKind.REJECT


async def test_observed_gate_that_fails_stands_in_no_way() -> None:
    settled = await _resorted(
        rule(LongestGate()), replace(rule(ShortestGate(least=20)), mode=Mode.OBSERVE)
    )

    assert settled.end is StepKind.DELIVER
