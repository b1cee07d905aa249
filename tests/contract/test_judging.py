from dataclasses import dataclass, field, replace

import pytest
from typing_extensions import override

from proxy.contract.judge_process import JudgeFailed, JudgeProcess
from proxy.contract.judging import Judge, open_eyes
from proxy.contract.plan import Plan, Way
from proxy.contract.policy import GateSpec, StepKind
from proxy.contract.questions import Answers
from proxy.gates.base import Gate, Repair, Repaired, Result, Settles, Verdict, Watch
from proxy.gates.questions import Answer, CountTokens, Question, TokenCounts, Unanswered
from proxy.wire.reply import Choice, Reply
from proxy.wire.request import Request
from tests.fakes.job import ASKED, FakeClock
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


@dataclass
class AskingGate(FakeGate, Settles):
    """Asks for the tokens of one text, and passes replies that have two."""

    name: str = "asking"
    verdict: Verdict = field(
        default_factory=lambda: Verdict("asking", Result.PASS, question=CountTokens(("ein Text",)))
    )

    @override
    def settle(self, verdict: Verdict, answer: Answer) -> Verdict:
        if not isinstance(answer, TokenCounts):
            return Verdict("asking", Result.ERROR)
        return Verdict("asking", Result.PASS if answer.counts == (2,) else Result.FAIL)


@dataclass
class TellingAnswers(Answers):
    """Answers after a second by the clock of the test."""

    told: Answer
    clock: FakeClock
    asked: list[Question] = field(default_factory=list)

    @override
    async def answer(self, question: Question, request: Request) -> Answer:
        self.asked.append(question)
        self.clock.at += 1.0
        return self.told


@pytest.mark.parametrize(
    ("told", "result"),
    [
        (TokenCounts((2,)), Result.PASS),
        (TokenCounts((3,)), Result.FAIL),
        (Unanswered("nobody"), Result.ERROR),
    ],
    ids=["kept", "broken", "unanswered"],
)
async def test_answer_to_a_question_settles_the_verdict(told: Answer, result: Result) -> None:
    answers = TellingAnswers(told, FakeClock())
    plan = Plan(Way.HOLD, (rule(AskingGate()),))

    (judged,) = await Judge(answers.clock.now, answers=answers).judge_all(plan, Reply(), ASKED)

    assert judged.verdict.result is result
    assert answers.asked == [CountTokens(("ein Text",))]


async def test_wait_for_an_answer_is_no_time_of_the_gate() -> None:
    answers = TellingAnswers(TokenCounts((2,)), FakeClock())
    plan = Plan(Way.HOLD, (rule(AskingGate()),))

    (judged,) = await Judge(answers.clock.now, answers=answers).judge_all(plan, Reply(), ASKED)

    assert (judged.seconds, judged.waited) == (0.0, 1.0)


@dataclass
class ClearingGate(AskingGate):
    @override
    def settle(self, verdict: Verdict, answer: Answer) -> Verdict:
        return Verdict("asking", Result.PASS, cleared=2)


async def test_hints_that_an_answer_cleared_are_told() -> None:
    plan = Plan(Way.HOLD, (rule(ClearingGate()), rule(AskingGate())))
    told: list[int] = []

    await Judge(lambda: 0.0, on_cleared=told.append).judge_all(plan, Reply(), ASKED)

    assert told == [2]


async def test_question_that_nobody_answers_is_an_error() -> None:
    plan = Plan(Way.HOLD, (rule(AskingGate()),))

    (judged,) = await Judge(lambda: 0.0).judge_all(plan, Reply(), ASKED)

    assert judged.verdict.result is Result.ERROR


async def test_question_of_a_gate_that_cannot_settle_is_an_error() -> None:
    asking = FakeGate("odd", AskingGate().verdict)
    plan = Plan(Way.HOLD, (rule(asking),))

    (judged,) = await Judge(lambda: 0.0).judge_all(plan, Reply(), ASKED)

    assert (judged.verdict.result, judged.verdict.question) == (Result.ERROR, None)


class SettlingProcess(JudgeProcess):
    """Settles what a gate asked that only the process has in full."""

    @override
    async def settle(self, spec: GateSpec, verdict: Verdict, answer: Answer) -> Verdict:
        return Verdict(spec.kind, Result.PASS, cleared=1)


async def test_question_of_a_gate_that_settles_elsewhere_is_settled_there() -> None:
    asking = replace(rule(FakeGate("odd", AskingGate().verdict)), spec=GateSpec("odd", "{}"))
    plan = Plan(Way.HOLD, (asking,))

    (judged,) = await Judge(lambda: 0.0, SettlingProcess()).judge_all(plan, Reply(), ASKED)

    assert judged.verdict == Verdict("odd", Result.PASS, cleared=1)


class LostProcess(JudgeProcess):
    @override
    async def settle(self, spec: GateSpec, verdict: Verdict, answer: Answer) -> Verdict:
        raise JudgeFailed("dead")


async def test_process_that_dies_while_settling_is_an_error_of_the_gate() -> None:
    asking = replace(rule(FakeGate("odd", AskingGate().verdict)), spec=GateSpec("odd", "{}"))
    plan = Plan(Way.HOLD, (asking,))

    (judged,) = await Judge(lambda: 0.0, LostProcess()).judge_all(plan, Reply(), ASKED)

    assert (judged.verdict.result, judged.verdict.question) == (Result.ERROR, None)


@dataclass
class BrokenSettling(AskingGate):
    @override
    def settle(self, verdict: Verdict, answer: Answer) -> Verdict:
        raise RuntimeError("prompt text")


async def test_gate_that_breaks_at_settling_is_an_error_that_quotes_nothing() -> None:
    plan = Plan(Way.HOLD, (rule(BrokenSettling()),))

    (judged,) = await Judge(lambda: 0.0).judge_all(plan, Reply(), ASKED)

    assert judged.verdict.result is Result.ERROR
    assert "prompt" not in judged.verdict.reason


@dataclass
class ReadingGate(FakeGate):
    """Writes down the content that it is to judge."""

    seen: list[str | None] = field(default_factory=list)

    @override
    def judge(self, reply: Reply, request: Request) -> Verdict:
        self.seen += [choice.content for choice in reply.choices]
        return self.verdict


async def test_gate_sees_what_the_enforced_ones_before_it_have_repaired() -> None:
    repaired = {0: Repaired("{}", (Repair.UNWRAP_FENCE,))}
    repairs = FakeGate(verdict=Verdict("strict_json", Result.PASS, repaired=repaired))
    first, second = ReadingGate("first"), ReadingGate("second")
    reply = Reply((Choice(0, "```json"),))
    judge = Judge(lambda: 0.0)

    await judge.judge_all(Plan(Way.HOLD, (rule(repairs), rule(first))), reply, ASKED)
    await judge.judge_all(Plan(Way.HOLD, (), (rule(repairs), rule(second))), reply, ASKED)

    assert (first.seen, second.seen) == (["{}"], ["```json"])
