import argparse

import pytest

from proxy.ledger.period import read_period


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0s", 0), ("90s", 90), ("30m", 1800), ("24h", 86_400), ("7d", 604_800), ("2w", 1_209_600)],
)
def test_periods_are_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert read_period(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "7", "d", "7 d", "7x", "-7d", "1.5h", "7d7d", "9999999d", "²d"]
)
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="24h"):
        read_period(text)
