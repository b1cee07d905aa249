from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.telemetry import buckets

# Means of TTFR that the recipes' figures state, from the fastest to the slowest, in seconds.
RECIPES = (0.112, 0.148)


def test_steps_where_the_recipes_lie_are_five_milliseconds() -> None:
    fastest, slowest = RECIPES
    near = [edge for edge in buckets.TTFR_SECONDS if fastest - 0.003 < edge < slowest + 0.003]

    steps = [later - sooner for sooner, later in pairwise(near)]
    assert steps == pytest.approx([0.005] * len(steps))
    assert (near[0], near[-1]) == (0.11, 0.15)


@pytest.mark.parametrize(
    "name", [name for name in vars(buckets) if name.endswith(("_SECONDS", "_PER_SECOND"))]
)
def test_edges_ascend(name: str) -> None:
    edges = getattr(buckets, name)

    assert list(edges) == sorted(set(edges))
    assert edges[0] > 0


@given(
    st.lists(st.floats(0.001, 1000), unique=True).map(sorted).map(tuple),
    st.floats(0.001, 1000),
)
def test_objective_is_an_edge_among_the_others(edges: tuple[float, ...], edge: float) -> None:
    made = buckets.with_edge(edges, edge)

    assert set(made) == {*edges, edge}
    assert list(made) == sorted(made)
