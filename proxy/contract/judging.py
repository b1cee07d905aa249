"""Puts one reply before the gates of a plan."""

from collections.abc import Callable
from dataclasses import dataclass

from proxy.contract.plan import Plan
from proxy.contract.policy import Rule
from proxy.gates.base import Result, Verdict
from proxy.telemetry.record import VerdictRecord
from proxy.wire.reply import Reply
from proxy.wire.request import Request


@dataclass(frozen=True, slots=True)
class Judged:
    """One verdict with the rule it belongs to and the seconds that the gate took."""

    rule: Rule
    verdict: Verdict
    enforced: bool
    seconds: float = 0.0

    def record(self) -> VerdictRecord:
        verdict = self.verdict
        return VerdictRecord(
            gate=verdict.gate,
            result=verdict.result,
            fault=verdict.fault,
            place=verdict.place,
            enforced=self.enforced,
            seconds=self.seconds,
        )


def judge_all(
    plan: Plan, reply: Reply, request: Request, now: Callable[[], float]
) -> tuple[Judged, ...]:
    """Judge by every gate of the plan, enforced ones first."""
    judged = []
    for rule in plan.rules:
        began = now()
        verdict = _judge(rule, reply, request)
        judged.append(Judged(rule, verdict, rule in plan.enforced, now() - began))
    return tuple(judged)


def _judge(rule: Rule, reply: Reply, request: Request) -> Verdict:
    try:
        return rule.gate.judge(reply, request)
    except Exception as error:  # noqa: BLE001 - a gate may be anybody's; its policy says what an error means
        return Verdict(
            gate=rule.gate.name,
            result=Result.ERROR,
            reason=f"The gate {rule.gate.name} failed itself ({type(error).__name__}).",
        )
