import re

from proxy.gates.evidence.measures import joined_measures
from proxy.gates.evidence.quantities import quantities
from proxy.gates.evidence.quantity import Quantity
from proxy.gates.evidence.units import unit_named


def found(text: str) -> list[Quantity]:
    return quantities(text, set(re.findall(r"[^\W\d_]+", text)))


def test_range_shares_scale_and_unit() -> None:
    first, second = found("30 bis 40 Millionen Euro")

    assert 30e6 in [value for value, _ in first.values]
    assert first.unit == second.unit == unit_named("Euro")


def test_second_year_of_a_range_has_its_century() -> None:
    assert [value for value, _ in found("1620-21")[1].values] == [21, 1621]


def test_other_numbers_in_a_row_are_left_alone() -> None:
    assert [one.values for one in found("in 1620, 21 men")] == [((1620, 10),), ((21, 1),)]


def test_measure_of_two_parts_is_one() -> None:
    text = "2 Stunden und 9 Minuten, 3 kg und 5 m, 9 Minuten, 2 Stunden"
    ((place, one),) = joined_measures(text, found(text))

    assert (place, one.value) == (0, 129)
    assert text[one.start : one.end] == "2 Stunden und 9 Minuten"


def test_measures_far_apart_are_two() -> None:
    text = "2 hours today and then again 9 minutes"

    assert list(joined_measures(text, found(text))) == []
