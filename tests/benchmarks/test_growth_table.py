"""What costs of several sizes say of growth."""

import pytest
from axes import AXES, Axis
from growth_table import Point, exponent, markdown, verdict

LENGTH = AXES[0]
BESIDE = Axis("beside", "policies", "one event", (1, 10, 100), LENGTH.case, is_length=False)


def points(axis: Axis, *costs: float) -> list[Point]:
    sizes = (1, 10, 100)
    return [Point(axis.name, size, cost) for size, cost in zip(sizes, costs, strict=False)]


@pytest.mark.parametrize(
    ("axis", "costs", "power", "told"),
    [
        (LENGTH, (5, 5, 5), 1.0, "linear"),
        (LENGTH, (5, 50, 500), 2.0, "**worse than linear**"),
        (LENGTH, (500, 50, 5), 0.0, "flat"),
        (BESIDE, (5, 5, 5), 0.0, "flat"),
        (BESIDE, (5, 50, 500), 1.0, "linear"),
        (BESIDE, (5, 500, 50_000), 2.0, "**worse than linear**"),
    ],
)
def test_exponent(axis: Axis, costs: tuple[float, ...], power: float, told: str) -> None:
    found = exponent(axis, points(axis, *costs))

    assert found == pytest.approx(power)
    assert verdict(found) == told


def test_one_size_says_nothing_of_growth() -> None:
    assert exponent(LENGTH, points(LENGTH, 5)) is None
    assert verdict(None) == "-"


def test_median_of_the_rounds_counts() -> None:
    rounds = [*points(BESIDE, 5, 5), *points(BESIDE, 5, 900), *points(BESIDE, 5, 5)]

    assert exponent(BESIDE, rounds) == pytest.approx(0)


def test_table_shows_the_cost_of_each_size_as_a_ratio_to_the_smallest() -> None:
    report = markdown([BESIDE], points(BESIDE, 10, 20), ["a machine"])

    assert "| beside: policies | 1 | 10 | 2.00 | n^0.30 | linear |" in report
    assert "| beside: one event | 10 | 20.0 | 2.00 |" in report
    assert "- a machine" in report
