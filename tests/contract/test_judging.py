from dataclasses import dataclass, field

import pytest
from typing_extensions import override

from proxy.contract.judge_process import JudgeFailed, JudgeProcess
from proxy.contract.judging import Judge, open_eyes
from proxy.contract.plan import Plan, Way
from proxy.contract.policy import StepKind
from proxy.gates.base import Gate, Result, Verdict, Watch
from proxy.wire.reply import Reply
from proxy.wire.request import Request
from tests.fakes.job import ASKED
from tests.fakes.policies import FakeGate, failed, rule


@dataclass
class BrokenGate(Gate):
    """Fails at everything but `applies`; with a `watch` only at feeding it."""

    name: str = "broken"
    eye: Watch | None = None

    @override
    def applies(self, request: Request) -> bool:
        return True

    @override
    def judge(self, reply: Reply, request: Request) -> Verdict:
        raise RuntimeError("prompt text")

    @override
    def watch(self, request: Request) -> Watch | None:
        if self.eye is None:
            raise RuntimeError("no eye")
        return self.eye


@dataclass
class BrokenWatch(Watch):
    fed: list[str] = field(default_factory=list)

    @override
    def feed(self, choice: int, content: str) -> Verdict | None:
        self.fed.append(content)
        raise RuntimeError("blind")


async def test_gate_that_raises_is_an_error_that_quotes_nothing() -> None:
    plan = Plan(Way.HOLD, (rule(BrokenGate()),))

    (judged,) = await Judge(lambda: 0.0).judge_all(plan, Reply(), ASKED)

    assert judged.verdict.result is Result.ERROR
    assert "broken" in judged.verdict.reason
    assert "prompt" not in judged.verdict.reason


async def test_enforced_gates_judge_before_observed_ones() -> None:
    observed, enforced = rule(FakeGate("a")), rule(FakeGate("b"))

    judged = await Judge(lambda: 0.0).judge_all(
        Plan(Way.HOLD, (enforced,), (observed,)), Reply(), ASKED
    )

    assert [(one.rule, one.enforced) for one in judged] == [(enforced, True), (observed, False)]


async def test_record_names_the_rule_s_gate_whatever_its_verdict_says() -> None:
    plan = Plan(Way.HOLD, (rule(FakeGate("mine", failed(gate="other"))),))

    (judged,) = await Judge(lambda: 0.0).judge_all(plan, Reply(), ASKED)

    assert judged.record().gate == "mine"


def test_watch_that_breaks_is_closed_and_cuts_nothing() -> None:
    watch = BrokenWatch()
    (eye,) = open_eyes(Plan(Way.HOLD, (rule(BrokenGate(eye=watch)),)), ASKED)

    found = [eye.feed(0, "a"), eye.feed(0, "b")]

    assert found == [None, None]
    assert watch.fed == ["a"]


def test_gates_that_cannot_watch_or_would_deliver_have_no_eye() -> None:
    blind = rule(FakeGate("blind"))
    broken = rule(BrokenGate())
    delivers = rule(BrokenGate(eye=BrokenWatch()), (StepKind.VARY, StepKind.DELIVER))

    assert open_eyes(Plan(Way.HOLD, (blind, broken, delivers)), ASKED) == []


SHORT = b'{"choices":[]}'
LONG = SHORT + b" " * 100_000


class ReadingProcess(JudgeProcess):
    """Reads nothing: its replies tell by their `error` that they came from there."""

    @override
    async def read(self, body: bytes) -> Reply:
        return Reply(error="there")


class DeadProcess(JudgeProcess):
    @override
    async def read(self, body: bytes) -> Reply:
        raise JudgeFailed("dead")


async def test_long_body_is_read_in_the_process_and_a_short_one_here() -> None:
    judge = Judge(lambda: 0.0, ReadingProcess())

    assert await judge.read(LONG) == Reply(error="there")
    assert await judge.read(SHORT) == Reply()


@pytest.mark.parametrize("process", [None, DeadProcess()], ids=["none", "dead"])
async def test_long_body_is_read_here_where_no_process_does_it(
    process: JudgeProcess | None,
) -> None:
    assert await Judge(lambda: 0.0, process).read(LONG) == Reply()
