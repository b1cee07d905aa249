import pytest

from proxy.gates.schema_patterns import compile_pattern
from proxy.gates.schema_run import OutOfSteps, Run


def test_steps_are_counted_down_to_nothing() -> None:
    run = Run({}, frozenset(), 3)
    run.spend(3)

    with pytest.raises(OutOfSteps):
        run.spend(1)


def test_formats_are_never_checked() -> None:
    run = Run({}, frozenset(), 0)

    run.check("no address", "email")


def test_pattern_that_is_not_compiled_may_match_anything() -> None:
    run = Run({"a": compile_pattern("a"), "(?=a)": None}, frozenset(), 100)

    assert run.is_checked("a")
    assert not run.is_checked("(?=a)")
    assert not run.may_match("a", "x")
    assert run.may_match("(?=a)", "x")


def test_long_texts_cost_more() -> None:
    run = Run({}, frozenset(), 10)

    with pytest.raises(OutOfSteps):
        run.may_match("a", "x" * 10_000)
