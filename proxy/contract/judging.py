"""Puts one reply before the gates of a plan."""

from collections.abc import Callable
from dataclasses import dataclass

from proxy.contract.plan import Plan
from proxy.contract.policy import Rule, StepKind
from proxy.gates.base import Result, Verdict, Watch
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
            gate=self.rule.gate.name,
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


@dataclass(slots=True)
class Eye:
    """One gate's watch on one stream. A watch that breaks is closed: the gate will judge."""

    rule: Rule
    watch: Watch | None

    def feed(self, choice: int, content: str) -> Verdict | None:
        if self.watch is None:
            return None
        try:
            return self.watch.feed(choice, content)
        except Exception:  # noqa: BLE001 - a gate may be anybody's
            self.watch = None
            return None


def open_eyes(plan: Plan, request: Request) -> list[Eye]:
    """The watches that may cut a stream: of enforced gates that would not deliver it after all."""
    return [
        Eye(rule, watch)
        for rule in plan.enforced
        if rule.ladder[-1].kind is not StepKind.DELIVER
        and (watch := _open(rule, request)) is not None
    ]


def _open(rule: Rule, request: Request) -> Watch | None:
    try:
        return rule.gate.watch(request)
    except Exception:  # noqa: BLE001 - a gate may be anybody's
        return None


def _judge(rule: Rule, reply: Reply, request: Request) -> Verdict:
    try:
        return rule.gate.judge(reply, request)
    except Exception as error:  # noqa: BLE001 - a gate may be anybody's; its policy says what an error means
        return Verdict(
            gate=rule.gate.name,
            result=Result.ERROR,
            reason=f"The gate {rule.gate.name} failed itself ({type(error).__name__}).",
        )
