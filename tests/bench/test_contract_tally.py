from dataclasses import replace

import pytest

from proxy.bench.contract_cases import CaseKind
from proxy.bench.contract_reading import Reading
from proxy.bench.contract_run import Measured, Trial
from proxy.bench.contract_tally import tally_after, tally_before
from tests.fakes.contract import CASES

SHORT = next(case for case in CASES if case.kind is CaseKind.SHORT_TEXT and not case.is_thin)
TEASER = next(case for case in CASES if case.kind is CaseKind.TEASER and not case.is_thin)
THIN = next(case for case in CASES if case.is_thin)
USABLE = Measured(Reading(), "passed")
WRONG = Measured(Reading(("too_long", "missing_fact"), ("number", "number"), ("name",)))
TRIALS = [
    Trial(SHORT, 1, WRONG, USABLE),
    Trial(SHORT, 2, Measured(Reading(typed=("date",))), Measured(Reading(), "flagged", 2)),
    Trial(TEASER, 1, Measured(Reading(("too_long",))), Measured(Reading(("kept_back",)), "parked")),
    Trial(THIN, 1, Measured(Reading(abstains=True)), Measured(Reading(abstains=True), "repaired")),
]


def test_usable_answers_are_counted_by_kind_with_their_interval() -> None:
    before = tally_before(TRIALS)

    assert before
    short, teaser = before.usable[CaseKind.SHORT_TEXT], before.usable[CaseKind.TEASER]
    assert (short.hits, short.of) == (2, 3)
    assert (teaser.hits, teaser.of) == (0, 1)
    assert short.interval == pytest.approx((0.2077, 0.9385), abs=1e-4)


def test_usable_answer_that_its_source_contradicts_is_not_borne() -> None:
    before = tally_before(TRIALS)

    assert before
    assert (before.borne.hits, before.borne.of) == (1, 4)


def test_faults_count_answers_and_the_commonest_comes_first() -> None:
    twice = [*TRIALS, Trial(SHORT, 3, Measured(Reading(("missing_fact",))), USABLE)]

    before = tally_before(twice)

    assert before
    assert list(before.faults[CaseKind.SHORT_TEXT].items()) == [
        ("missing_fact", 2),
        ("too_long", 1),
    ]
    assert before.faults[CaseKind.TEASER] == {"too_long": 1}


def test_findings_count_each_and_answers_once() -> None:
    before = tally_before(TRIALS)

    assert before
    assert before.typed == {"number": 2, "date": 1}
    assert (before.with_typed.hits, before.with_typed.of) == (2, 4)
    assert before.hints == {"name": 1}
    assert before.with_hints.hits == 1


def test_abstentions_count_by_what_the_source_bears() -> None:
    needless = replace(TRIALS[0], before=Measured(Reading(("needless_abstention",), abstains=True)))

    before = tally_before([*TRIALS, needless])

    assert before
    assert (before.abstained_on_thin.hits, before.abstained_on_thin.of) == (1, 1)
    assert (before.abstained_on_rich.hits, before.abstained_on_rich.of) == (1, 4)


def test_ends_and_calls_behind_the_gate_are_counted() -> None:
    after = tally_after(TRIALS)

    assert (after.flagged, after.kept_back, after.calls) == (1, 1, 5)


def test_server_that_is_a_gate_has_no_before() -> None:
    assert tally_before([replace(trial, before=None) for trial in TRIALS]) is None


def test_share_of_nothing_has_no_interval() -> None:
    after = tally_after([])

    assert after.borne.interval is None
    assert after.calls == 0
