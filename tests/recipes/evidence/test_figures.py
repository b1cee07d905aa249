import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from proxy.recipes.evidence.figures import Figure, Operation, Range, applied, formula_text

POSITIVE = st.decimals(min_value="0.1", max_value="1000", places=1)


def figure(**values: object) -> Figure:
    """As a file would have it; a stated one where nothing else is said."""
    return Figure.model_validate_json(json.dumps({"status": "stated", "unit": "ms", **values}))


def span(low: str, high: str) -> Range:
    ends = Decimal(low), Decimal(high)
    return Range(sum(ends, Decimal()) / 2, *ends)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param({"value": "1"}, "has a quote", id="stated without quote"),
        pytest.param({"quote": "q"}, "has a value, or a bound", id="no number"),
        pytest.param({"value": "1", "status": "derived"}, "has a formula", id="derived alone"),
        pytest.param(
            {"value": "1", "quote": "q", "status": "bounded"}, "no value", id="bounded with a value"
        ),
        pytest.param(
            {"at_least": "1", "status": "bounded"}, "a quote or a formula", id="bare bound"
        ),
    ],
)
def test_figure_says_how_it_is_known(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        figure(**values)


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        pytest.param("53.8", "53.75", "53.85", id="one digit after the point"),
        pytest.param("20.0", "19.95", "20.05", id="a printed zero counts"),
        pytest.param("100", "99.5", "100.5", id="whole number"),
    ],
)
def test_printed_number_stands_for_all_that_round_to_it(value: str, low: str, high: str) -> None:
    found = figure(value=value, quote="q").range

    assert (found.low, found.high) == (Decimal(low), Decimal(high))


def test_bounds_that_are_given_are_the_range() -> None:
    found = figure(value="65.9", at_least="65.8", at_most="66.0", quote="q").range

    assert found == Range(Decimal("65.9"), Decimal("65.8"), Decimal("66.0"))


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        pytest.param({"value": "53.8"}, "53.8 ms", id="a number"),
        pytest.param({"value": "53.8", "about": True}, "about 53.8 ms", id="about"),
        pytest.param({"value": "22", "of": "24"}, "22/24 ms", id="part of a whole"),
        pytest.param({"at_least": "10"}, "at least 10 ms", id="lower bound"),
        pytest.param({"at_most": "10", "about": True}, "at most about 10 ms", id="upper bound"),
        pytest.param({"at_least": "1", "at_most": "2"}, "1 to 2 ms", id="both bounds"),
    ],
)
def test_number_is_shown_with_its_unit(values: dict[str, object], shown: str) -> None:
    assert figure(quote="q", **values).shown == shown


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (Operation.DIFFERENCE, 60),
        (Operation.PERCENT_MORE, 150),
        (Operation.PERCENT_LESS, -150),
        (Operation.RAISED_BY, 140),
        (Operation.BEFORE_RISE, Decimal(100) / Decimal("1.4")),
    ],
)
def test_operations_mean_what_they_are_called(operation: Operation, expected: Decimal) -> None:
    exact = applied(operation, span("100", "100"), span("40", "40"))

    assert exact.middle == exact.low == exact.high == pytest.approx(expected)


@given(
    st.sampled_from(Operation),
    st.tuples(POSITIVE, POSITIVE),
    st.tuples(POSITIVE, POSITIVE),
    st.decimals(0, 1, places=2),
    st.decimals(0, 1, places=2),
)
def test_nothing_within_the_ranges_leaves_the_result(
    operation: Operation,
    one: tuple[Decimal, Decimal],
    other: tuple[Decimal, Decimal],
    share: Decimal,
    other_share: Decimal,
) -> None:
    a, b = (Range(None, min(pair), max(pair)) for pair in (one, other))
    inside_a = min(one) + (max(one) - min(one)) * share
    inside_b = min(other) + (max(other) - min(other)) * other_share

    found = applied(operation, a, b)
    exact = applied(operation, Range(inside_a, None, None), Range(inside_b, None, None)).middle

    assert exact is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low - Decimal("1e-15") <= exact <= found.high + Decimal("1e-15")


def test_open_end_gives_a_lower_bound_only_where_nothing_falls() -> None:
    open_ended = Range(None, Decimal(10), None)

    assert applied(Operation.RAISED_BY, span("50", "60"), open_ended).low == Decimal(55)
    assert applied(Operation.BEFORE_RISE, span("50", "60"), open_ended).low is None


def test_formula_reads_as_arithmetic() -> None:
    assert formula_text({Operation.PERCENT_MORE: ("a", "b.c")}) == "100 * (a / b.c - 1)"
    assert formula_text({}) == ""
