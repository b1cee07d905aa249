from proxy.contract.attempt import Attempt
from proxy.contract.correction import draft_of
from proxy.contract.judging import Judged
from proxy.contract.policy import StepKind
from proxy.errors import Fault
from proxy.gates.base import Result, Verdict
from proxy.telemetry.outcome import AttemptStep
from proxy.wire.reply import Choice, Reply
from tests.fakes.policies import FakeGate, rule

REASKS = (StepKind.REASK, StepKind.REJECT)
ENDS = (StepKind.FLAG,)


def judged(
    gate: str, feedback: str, ladder: tuple[StepKind, ...] = REASKS, choice: int = 0
) -> Judged:
    place = f"choices[{choice}].message.content"
    verdict = Verdict(gate, Result.FAIL, Fault.TOO_LONG, f"reason {gate}", place, feedback)
    return Judged(rule(FakeGate(gate), ladder), verdict, enforced=True)


def attempt_of(*verdicts: Judged) -> Attempt:
    reply = Reply((Choice(0, "first"), Choice(1, "second")))
    return Attempt(1, AttemptStep.FIRST, 0.0, reply=reply, judged=verdicts)


def test_all_gates_that_ask_again_are_heard_once() -> None:
    attempt = attempt_of(
        judged("a", "Shorten it."), judged("b", "Add no names."), judged("c", "Shorten it.")
    )

    assert draft_of(attempt).feedback == "Shorten it.\n\nAdd no names."


def test_gate_that_asks_for_no_attempt_is_not_heard_beside_one_that_does() -> None:
    attempt = attempt_of(judged("a", "A hint.", ENDS), judged("b", "Shorten it."))

    assert draft_of(attempt).feedback == "Shorten it."


def test_choice_that_failed_first_is_shown_and_corrected_alone() -> None:
    attempt = attempt_of(judged("a", "Second.", choice=1), judged("b", "First.", choice=0))

    draft = draft_of(attempt)

    assert draft.choice == Choice(1, "second")
    assert draft.feedback == "Second."


def test_reason_speaks_where_a_gate_has_no_feedback() -> None:
    assert draft_of(attempt_of(judged("a", "", ENDS))).feedback == "reason a"


def test_reply_that_could_not_be_read_has_no_choice() -> None:
    attempt = attempt_of(judged("a", "Shorten it."))
    attempt.reply = None

    assert draft_of(attempt).choice is None
