import pytest

from proxy.gates.evidence.quantity import SCALES, Quantity, with_tail
from proxy.gates.evidence.units import unit_named


@pytest.mark.parametrize(
    ("text", "end", "value", "unit", "noun"),
    [
        ("5 kg", 4, 5, "kg", ""),
        ("5 Mio. Euro", 11, 5e6, "Euro", ""),
        ("5 Igel", 1, 5, None, "Igel"),
        ("5. Quartal", 10, 5, "quartal", ""),
        ("5k", 2, 5000, None, ""),
        ("5th time", 3, 5, None, "time"),
        ("5", 1, 5, None, ""),
    ],
)
def test_tail_is_scale_unit_or_noun(
    text: str, end: int, value: float, unit: str | None, noun: str
) -> None:
    one = with_tail(text, Quantity(0, 1, ((5.0, 1.0),)))

    assert (one.end, one.value, one.noun) == (end, value, noun)
    assert one.unit == (unit_named(unit) if unit else None)


def test_billion_has_the_values_of_both_languages() -> None:
    one = with_tail("5 Billion", Quantity(0, 1, ((5.0, 1.0),)))

    assert [value for value, _ in one.values] == [5e9, 5e12]
    assert SCALES["billionen"] == 1e12


@pytest.mark.parametrize(
    ("one", "is_year"),
    [
        (Quantity(0, 4, ((1985.0, 1.0),)), True),
        (Quantity(0, 5, ((1985.0, 1.0),)), False),
        (Quantity(0, 4, ((1200.0, 1.0),)), False),
        (Quantity(0, 4, ((1985.0, 1.0),), unit_named("kg")), False),
    ],
)
def test_year_is_a_plain_number_of_four_digits(one: Quantity, is_year: bool) -> None:
    assert one.is_year is is_year
