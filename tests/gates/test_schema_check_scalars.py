from typing import Any

import pytest

from proxy.gates.schema_check import NULL, NUMBERS, Declined, Steps, Unsure
from proxy.gates.schema_check_scalars import (
    NUMBER_KEYWORDS,
    kinds_of,
    member_of,
    number,
    number_checks,
    unique,
    whole,
)


def _numbers_fit(schema: dict[str, Any], *numbers: float, since_draft_6: bool = True) -> bool:
    used = schema.keys() & NUMBER_KEYWORDS
    if not since_draft_6:
        used -= {"exclusiveMinimum", "exclusiveMaximum"}
    return all(fits(list(numbers), Steps(99)) for fits in number_checks(schema, used))


@pytest.mark.parametrize(
    ("types", "kinds"),
    [
        ("string", {str}),
        ("integer", {int}),
        ("number", NUMBERS),
        (["null", "object", "boolean"], {NULL, dict, bool}),
    ],
)
def test_types_name_kinds(types: object, kinds: set[type]) -> None:
    assert kinds_of(types) == kinds


@pytest.mark.parametrize("types", ["any", ["string", {}], 5, None])
def test_type_that_no_draft_knows_is_declined(types: object) -> None:
    with pytest.raises(Declined):
        kinds_of(types)


@pytest.mark.parametrize("value", [True, "1", None, []])
def test_what_is_no_number_is_declined(value: object) -> None:
    with pytest.raises(Declined):
        number(value)


@pytest.mark.parametrize(
    ("schema", "fitting", "other"),
    [
        ({"minimum": 1}, 1.0, 0.5),
        ({"maximum": 10**20}, 1e20, 10**20 + 1),
        ({"exclusiveMinimum": 1}, 2, 1),
        ({"exclusiveMaximum": 1}, 0.5, 1.0),
        ({"multipleOf": 2}, 4.0, 3),
        ({"multipleOf": 0.5}, 1.5, 0.25),
        ({"multipleOf": 0.5}, 1.7e308, 0.25),
        ({"multipleOf": 0.1}, 0.5, 1e308),
        ({"minimum": 1, "maximum": 2}, 2, 3),
    ],
)
def test_numbers_are_held_to_their_bounds(
    schema: dict[str, Any], fitting: float, other: float
) -> None:
    assert _numbers_fit(schema, fitting)
    assert not _numbers_fit(schema, fitting, other)


def test_flag_of_draft_4_excludes_the_bound() -> None:
    schema = {"minimum": 1, "exclusiveMinimum": True, "maximum": 3, "exclusiveMaximum": False}

    assert _numbers_fit(schema, 2, 3, since_draft_6=False)
    assert not _numbers_fit(schema, 1, since_draft_6=False)


def test_number_that_cannot_be_divided_raises() -> None:
    with pytest.raises(ArithmeticError):
        _numbers_fit({"multipleOf": 0.5}, 10**400)


def test_float_without_a_fraction_is_whole() -> None:
    assert whole([1.0, 1e300, -0.0], Steps(9))
    assert not whole([1.0, 0.5], Steps(9))


@pytest.mark.parametrize(
    ("members", "fitting", "other"),
    [
        (["a", "b"], "a", "c"),
        (["a"], "a", {}),
        ([1, None], 1.0, True),
        ([True, 2], True, 1),
        ([0.5, False], False, 0),
    ],
)
def test_members_are_compared_as_json_values(
    members: list[Any], fitting: object, other: object
) -> None:
    check = member_of(members)

    assert check.fits([fitting, *members], Steps(9))
    assert not check.fits([fitting, other], Steps(9))


@pytest.mark.parametrize("members", [[[1]], ["a", {}], "ab", None])
def test_enumeration_of_containers_is_declined(members: object) -> None:
    with pytest.raises(Declined):
        member_of(members)


@pytest.mark.parametrize(
    ("array", "is_unique"),
    [
        ([], True),
        (["a", "b", 1, None, 0.5], True),
        (["a", "a"], False),
        ([1, 1.0], False),
        ([1, True, 0, False], True),
        ([True, 1, True], False),
    ],
)
def test_items_are_compared_as_json_values(array: list[Any], *, is_unique: bool) -> None:
    assert unique([["x"], array], Steps(9)) is is_unique


def test_arrays_of_containers_are_left_to_another_judge() -> None:
    with pytest.raises(Unsure):
        unique([[1, []]], Steps(9))
