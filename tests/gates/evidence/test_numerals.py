import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.gates.evidence.numerals import NUMERAL, readings, step_of


@pytest.mark.parametrize(
    ("figures", "values"),
    [
        ("1250", {1250}),
        ("1.234", {1234, 1.234}),
        ("1,234", {1234, 1.234}),
        ("1'250", {1250}),
        ("1 250", {1250}),
        ("1'250.50", {1250.5}),
        ("1.250,50", {1250.5}),
        ("1,000.5", {1000.5}),
        ("1.234.567", {1234567}),
        ("3,5", {3.5}),
        ("1,0005", {1.0005}),
        ("0.250", {0.25}),
        ("1234.567", {1234.567}),
        ("12,34,567", {1234567}),
    ],
)
def test_numeral_has_every_plausible_value(figures: str, values: set[float]) -> None:
    assert readings(figures) == values


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("in 2019 200 people", ["2019", "200"], id="two numbers"),
        pytest.param("12 300 pieces", ["12 300"], id="blank groups"),
        pytest.param("it was 5.", ["5"], id="full stop"),
        pytest.param("1,2,3", ["1,2"], id="enumeration"),
        pytest.param("B38 and x5", [], id="part of a word"),
        pytest.param("9" * 16, [], id="too long"),
    ],
)
def test_numerals_are_found_in_text(text: str, found: list[str]) -> None:
    assert [match[0] for match in re.finditer(NUMERAL, text)] == found


@pytest.mark.parametrize(
    ("figures", "value", "step"),
    [
        ("1300", 1300, 100),
        ("2000", 2000, 1000),
        ("7", 7, 1),
        ("0", 0, 1),
        ("3,5", 3.5, 0.1),
        ("1.25", 1.25, 0.01),
    ],
)
def test_step_is_the_worth_of_the_last_significant_digit(
    figures: str, value: float, step: float
) -> None:
    assert step_of(figures, value) == pytest.approx(step)


@given(st.integers(0, 10**12), st.sampled_from([",", ".", "'", " "]))
def test_grouped_number_has_its_value_among_the_readings(value: int, separator: str) -> None:
    assert float(value) in readings(f"{value:,}".replace(",", separator))
