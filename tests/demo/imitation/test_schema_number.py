from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from proxy.demo.imitation.schema_number import Unsupported, number_for, whole_number
from tests.fakes.imitation import chance

BOUNDS = st.dictionaries(
    st.sampled_from(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]),
    st.integers(-50, 50),
)


@given(BOUNDS, st.booleans(), st.integers())
def test_number_lies_within_its_bounds_or_is_refused(
    bounds: dict[str, Any], whole: bool, seed: int
) -> None:
    schema = {"type": "integer" if whole else "number", **bounds}

    try:
        number = number_for(schema, chance(seed), whole=whole)
    except Unsupported:
        return

    assert Draft202012Validator(schema).is_valid(number)


@pytest.mark.parametrize(
    "bounds", [{}, {"minimum": 3}, {"maximum": -3}, {"minimum": 3, "maximum": 3}]
)
def test_ordinary_bounds_are_answered(bounds: dict[str, Any]) -> None:
    for whole in (True, False):
        number = number_for(bounds, chance(1), whole=whole)

        assert bounds.get("minimum", number) <= number <= bounds.get("maximum", number)


def test_multiple_is_one() -> None:
    assert number_for({"multipleOf": 7}, chance(1), whole=True) % 7 == 0


@pytest.mark.parametrize(
    "schema",
    [
        {"minimum": 5, "maximum": 3},
        {"minimum": "1"},
        {"maximum": 1e300},
        {"multipleOf": 0},
        {"multipleOf": True},
    ],
)
def test_bounds_that_leave_nothing_are_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(Unsupported):
        number_for(schema, chance(1), whole=True)


@pytest.mark.parametrize("value", [-1, 1.5, "2", True, None])
def test_count_that_is_none_is_refused(value: object) -> None:
    with pytest.raises(Unsupported, match="minItems"):
        whole_number({"minItems": value}, "minItems", 0)
