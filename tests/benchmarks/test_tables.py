"""The spelling of figures."""

import pytest
from tables import middle, number, ratio, table, with_spread


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        (1234.5, "1,234"),
        (52.13, "52.1"),
        (1.4, "1.40"),
        (0.4449, "0.44"),
        (0.00871, "0.0087"),
        (-0.05, "-0.05"),
        (0, "0"),
    ],
)
def test_ratio_has_digits_that_mean_something(value: float, spelled: str) -> None:
    assert ratio(value) == spelled


def test_spread_is_left_out_where_there_is_none() -> None:
    assert with_spread([0.5]) == with_spread([0.501, 0.5]) == "0.50"
    assert with_spread([0.5, 2, 1]) == "1.00 (0.50–2.00)"  # noqa: RUF001 -- a range
    assert with_spread([]) == "-"


def test_what_is_unknown_is_left_out_of_a_median() -> None:
    assert middle([None, 3, 1, None, 2]) == 2
    assert middle([None]) is None
    assert number(None) == "-"


def test_table_has_no_title_over_its_names() -> None:
    assert table(["a"], [["b", "1"]]) == "|  | a |\n| --- | ---: |\n| b | 1 |"
