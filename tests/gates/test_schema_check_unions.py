from typing import Any

import pytest

from proxy.gates.schema_check import ANYTHING, NOTHING, NULL, Check, Steps, by_kind
from proxy.gates.schema_check_scalars import member_of
from proxy.gates.schema_check_unions import all_of, any_of, either, none_of, one_of

TEXT = by_kind(frozenset((str,)))
NOTE = by_kind(frozenset((NULL,)))
A_OR_B = member_of(["a", "b"])
B_OR_C = member_of(["b", "c"])


def _fit(check: Check, *values: Any) -> bool:
    return check.fits(list(values), Steps(99))


def test_all_branches_must_take_a_value() -> None:
    both = all_of([TEXT, A_OR_B, B_OR_C])

    assert _fit(both, "b", "b")
    assert not _fit(both, "b", "a")
    assert both.kinds == {str}


def test_any_branch_may_take_a_value() -> None:
    either_list = any_of([A_OR_B, B_OR_C, NOTE])

    assert _fit(either_list, "a", None, "b", "c")
    assert not _fit(either_list, "a", None, "d")
    assert not _fit(either_list, "a", 1)


def test_exactly_one_branch_may_take_a_value() -> None:
    exclusive = one_of([A_OR_B, B_OR_C, NOTE])

    assert _fit(exclusive, "a", None, "c")
    assert not _fit(exclusive, "a", "b")
    assert not _fit(exclusive, "d")


@pytest.mark.parametrize("union", [any_of, one_of])
def test_union_of_kinds_is_a_kind_itself(union: Any) -> None:
    nullable = union([TEXT, NOTE])

    assert nullable.is_by_kind
    assert nullable.kinds == {str, NULL}


def test_kind_that_two_branches_take_is_not_decided_by_kind() -> None:
    assert not _fit(one_of([TEXT, TEXT]), "a")
    assert _fit(any_of([TEXT, TEXT]), "a")


def test_union_without_branches_takes_nothing() -> None:
    assert not _fit(any_of([NOTHING]), "a")
    assert _fit(any_of([NOTHING]))


def test_negation_asks_for_each_value() -> None:
    assert _fit(none_of(A_OR_B), "c", 1)
    assert not _fit(none_of(A_OR_B), "c", "a")


def test_condition_chooses_for_each_value() -> None:
    conditional = either(TEXT, A_OR_B, NOTE)

    assert _fit(conditional, "a", None)
    assert not _fit(conditional, "c", None)
    assert not _fit(conditional, "a", 1)
    assert _fit(either(NOTHING, NOTHING, ANYTHING), "a")
