"""Tables of growth: the cost of a unit as a ratio to the smallest size's, and what that means."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import linear_regression

from axes import Axis
from tables import NONE, middle, number, ratio, table

FLAT = 0.15  # of the exponent: what rounding and the machine's mood may make of none
LINEAR = 1.15


@dataclass(frozen=True, slots=True)
class Point:
    """Processor time of one unit in one round, in microseconds."""

    axis: str
    size: int
    cost_us: float


def markdown(axes: Sequence[Axis], points: Sequence[Point], facts: Sequence[str]) -> str:
    parts = [
        table(
            ["from", "to", "cost of a unit, to the smallest's", "growth", "verdict"],
            (_summary(axis, points) for axis in axes),
        ),
        "Each size:",
        table(["size", "CPU, µs", "to the smallest's"], _sizes(axes, points)),
        "\n".join(f"- {fact}" for fact in facts),
    ]
    return "\n\n".join(parts)


def exponent(axis: Axis, points: Sequence[Point]) -> float | None:
    """x of n^x, the cost of a whole request over the size n; None for fewer than two sizes."""
    costs = _costs(axis, points)
    if len(costs) < 2:
        return None
    sizes = [math.log(size) for size in costs]
    slope = linear_regression(sizes, [math.log(cost) for cost in costs.values()]).slope
    return slope + 1 if axis.is_length else slope


def verdict(power: float | None) -> str:
    if power is None:
        return NONE
    if power <= FLAT:
        return "flat"
    return "linear" if power <= LINEAR else "**worse than linear**"


def _summary(axis: Axis, points: Sequence[Point]) -> list[str]:
    costs = _costs(axis, points)
    if not costs:
        return [f"{axis.name}: {axis.counted}", *[NONE] * 5]
    power = exponent(axis, points)
    smallest, largest = min(costs), max(costs)
    return [
        f"{axis.name}: {axis.counted}",
        f"{smallest:,}",
        f"{largest:,}",
        ratio(costs[largest] / costs[smallest]),
        NONE if power is None else f"n^{power:.2f}",
        verdict(power),
    ]


def _sizes(axes: Sequence[Axis], points: Sequence[Point]) -> list[list[str]]:
    rows = []
    for axis in axes:
        costs = _costs(axis, points)
        for size, cost in costs.items():
            compared = ratio(cost / costs[min(costs)])
            rows.append([f"{axis.name}: {axis.unit}", f"{size:,}", number(cost, 1), compared])
    return rows


def _costs(axis: Axis, points: Sequence[Point]) -> dict[int, float]:
    """The median cost of each size."""
    own = [point for point in points if point.axis == axis.name]
    found: dict[int, float] = {}
    for size in sorted({point.size for point in own}):
        cost = middle([point.cost_us for point in own if point.size == size])
        if cost:
            found[size] = cost
    return found
