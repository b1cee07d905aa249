import pytest
from jsonschema.exceptions import FormatError

from proxy.gates.schema_formats import TextFormat
from proxy.gates.schema_patterns import compile_pattern
from proxy.gates.schema_run import OutOfSteps, Run


def test_steps_are_counted_down_to_nothing() -> None:
    run = Run({}, frozenset(), 3)
    run.spend(3)

    with pytest.raises(OutOfSteps):
        run.spend(1)


def test_format_that_nobody_asserts_is_an_annotation() -> None:
    run = Run({}, frozenset(), 0, frozenset({TextFormat.UUID}))

    run.check("no address", "email")


def test_asserted_format_is_checked_in_texts_only_and_costs_steps() -> None:
    run = Run({}, frozenset(), 2, frozenset({TextFormat.EMAIL}))

    run.check(1, "email")
    run.check("a@example.org", "email")

    with pytest.raises(FormatError):
        run.check("no address", "email")
    with pytest.raises(OutOfSteps):
        run.check("a@example.org", "email")


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
