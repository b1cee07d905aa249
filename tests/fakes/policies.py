"""Policies and gates made by hand, for tests of what is decided by them."""

from dataclasses import dataclass, field, replace
from typing import Any

from proxy.contract.policy import (
    Attempts,
    Match,
    Mode,
    Policy,
    Rule,
    Step,
    StepKind,
    Stream,
    StreamMode,
    Vary,
)
from proxy.errors import Fault, InvalidRequest
from proxy.gates.base import Gate, Result, Verdict, Watch
from proxy.wire.reply import Reply
from proxy.wire.request import Request

ATTEMPTS = Attempts(
    max_attempts=3,
    deadline_seconds=120,
    max_extra_tokens=8192,
    cold=True,
    upstream_faults=True,
    vary=Vary(fresh_seed=True, min_temperature=0.3, thinking_off=True),
    deliver_best=False,
)
STREAM = Stream(
    mode=StreamMode.AUTO,
    keepalive_after_seconds=20,
    keepalive_every_seconds=15,
    window_holdback_characters=64,
    reasoning_hold=True,
)
LADDER = (StepKind.VARY, StepKind.REASK, StepKind.REJECT)


@dataclass
class FakeGate:
    """Answers every reply with the verdict it was given."""

    name: str = "strict_json"
    verdict: Verdict = field(default_factory=lambda: Verdict("strict_json", Result.PASS))
    applies_to: bool = True
    refuses: bool = False

    def applies(self, request: Request) -> bool:
        if self.refuses:
            raise InvalidRequest("the schema is none")
        return self.applies_to

    def judge(self, reply: Reply, request: Request) -> Verdict:
        return self.verdict

    def watch(self, request: Request) -> Watch | None:
        return None


def rule(
    gate: Gate | None = None,
    ladder: tuple[StepKind, ...] = LADDER,
    on_error: StepKind = StepKind.REJECT,
    mode: Mode = Mode.ENFORCE,
) -> Rule:
    steps = tuple(Step(kind) for kind in ladder)
    return Rule(gate or FakeGate(), steps, Step(on_error), mode)


def policy(*rules: Rule, mode: Mode = Mode.ENFORCE, stream: StreamMode = StreamMode.AUTO) -> Policy:
    return Policy(
        name="production",
        description="",
        mode=mode,
        match=Match(("*",), ("chat",)),
        attempts=ATTEMPTS,
        stream=replace(STREAM, mode=stream),
        rules=rules,
        record="verdicts",
        hash="0123456789ab",
    )


def failed(fault: Fault = Fault.NOT_JSON, gate: str = "strict_json", **more: Any) -> Verdict:
    return Verdict(gate, Result.FAIL, fault, **more)
