import pytest

from proxy.contract.attempt import Attempt
from proxy.contract.attempts import Settled
from proxy.contract.best import with_best
from proxy.contract.judging import Judged
from proxy.contract.policy import StepKind
from proxy.errors import Fault
from proxy.gates.base import Result, Verdict
from proxy.telemetry.outcome import AttemptStep
from tests.fakes.policies import FakeGate, failed, rule

DELIVER, FLAG, REJECT = StepKind.DELIVER, StepKind.FLAG, StepKind.REJECT
MILD = failed(Fault.SCHEMA_VIOLATION)
GRAVE = failed(Fault.NOT_JSON)


def _attempt(*failures: tuple[StepKind, Verdict], cut: bool = False) -> Attempt:
    attempt = Attempt(1, AttemptStep.FIRST, began=0.0, cut=cut)
    attempt.judged = tuple(
        Judged(rule(FakeGate(), (end,), on_error=end), verdict, enforced=True)
        for end, verdict in failures
    )
    return attempt


@pytest.mark.parametrize("end", [DELIVER, FLAG])
@pytest.mark.parametrize(
    ("failures", "best"),
    [
        pytest.param([[MILD], [MILD, MILD]], 0, id="fewest failed gates"),
        pytest.param([[MILD], [GRAVE]], 0, id="mildest"),
        pytest.param([[GRAVE], [MILD]], 1, id="mildest comes later"),
        pytest.param([[MILD], [MILD]], 1, id="latest"),
    ],
)
def test_best_attempt_is_the_one_that_is_least_wrong(
    failures: list[list[Verdict]], best: int, end: StepKind
) -> None:
    attempts = [_attempt(*((end, verdict) for verdict in verdicts)) for verdicts in failures]

    assert with_best(Settled(attempts[-1], end), attempts) == Settled(attempts[best], end)


def test_attempt_that_a_gate_would_have_refused_is_not_delivered() -> None:
    refused = _attempt((REJECT, MILD))
    last = _attempt((FLAG, GRAVE), (DELIVER, GRAVE))

    assert with_best(Settled(last, FLAG), [refused, last]) == Settled(last, FLAG)


def test_attempt_that_was_cut_is_not_delivered() -> None:
    cut = _attempt((DELIVER, MILD), cut=True)
    last = _attempt((DELIVER, GRAVE))

    assert with_best(Settled(last, DELIVER), [cut, last]).attempt is last


@pytest.mark.parametrize(
    ("first", "last"), [(FLAG, DELIVER), (DELIVER, FLAG)], ids=["flag", "deliver"]
)
def test_end_is_the_one_of_the_attempt_that_is_delivered(first: StepKind, last: StepKind) -> None:
    best, other = _attempt((first, MILD)), _attempt((last, GRAVE))

    assert with_best(Settled(other, last), [best, other]) == Settled(best, first)


def test_gate_that_could_not_judge_counts_by_its_own_end() -> None:
    broken = _attempt((FLAG, Verdict("strict_json", Result.ERROR)))

    assert with_best(Settled(broken, FLAG), [broken]) == Settled(broken, FLAG)


@pytest.mark.parametrize("end", [REJECT, StepKind.FALLBACK])
def test_ends_that_deliver_no_attempt_stay(end: StepKind) -> None:
    better, last = _attempt((end, MILD)), _attempt((end, GRAVE))

    assert with_best(Settled(last, end), [better, last]) == Settled(last, end)


def test_reply_without_a_failure_stays() -> None:
    failing, good = _attempt((DELIVER, MILD)), _attempt()

    assert with_best(Settled(good, DELIVER), [failing, good]).attempt is good


def test_settled_attempt_stays_where_no_other_may_be_delivered() -> None:
    cut = _attempt((FLAG, GRAVE), cut=True)

    assert with_best(Settled(cut, FLAG), [cut]).attempt is cut
