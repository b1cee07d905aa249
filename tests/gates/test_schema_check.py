import pytest

from proxy.gates.schema_check import ANYTHING, KINDS, NOTHING, NULL, Steps, by_kind
from proxy.gates.schema_run import OutOfSteps

ONE_OF_EACH = [{}, [], "", 0, 0.5, True, None]


def test_steps_are_paid_by_pass_and_by_value() -> None:
    steps = Steps(2)
    steps.spend(16)

    with pytest.raises(OutOfSteps):
        steps.spend(1)


def test_long_texts_cost_more() -> None:
    Steps(5).spend_on_texts(["a", "b"])

    with pytest.raises(OutOfSteps):
        Steps(5).spend_on_texts(["a", "b" * 10_000])


def test_kinds_are_told_apart_as_json_does() -> None:
    assert {kind for kind in KINDS for value in ONE_OF_EACH if type(value) is kind} == KINDS
    assert not by_kind(frozenset((int,))).fits([True], Steps(9))
    assert by_kind(frozenset((bool, NULL))).fits([True, None], Steps(9))


def test_anything_takes_all_and_nothing_takes_none() -> None:
    assert ANYTHING.fits(ONE_OF_EACH, Steps(9))
    assert not NOTHING.fits([None], Steps(9))
    assert NOTHING.fits([], Steps(9))


def test_one_value_that_does_not_fit_decides_for_all() -> None:
    texts = by_kind(frozenset((str,)))

    assert texts.fits(["a", "b"], Steps(9))
    assert not texts.fits(["a", "b", 1], Steps(9))
