"""The figures of docs/cold-start.md that can be computed: intervals and counts."""

import re
from pathlib import Path
from typing import Final

import pytest

from proxy.ledger.interval import wilson_interval
from tests.fakes.mtp_defect import bad

PAGE: Final = (Path(__file__).parents[2] / "docs" / "cold-start.md").read_text(encoding="utf-8")
SHARES: Final = {"none": 0, "a third": 1 / 3, "two thirds": 2 / 3}
DASH: Final = "\N{EN DASH}"
RANGE: Final = rf"(\d+{DASH}\d+) % \|"
INTERVALS: Final = re.findall(rf"^\| (\d+) \| {RANGE} {RANGE} {RANGE}$", PAGE, re.MULTILINE)


def _interval(invalid: int, samples: int) -> str:
    found = wilson_interval(invalid, samples)
    assert found is not None
    low, high = found
    return f"{100 * low:.0f}{DASH}{100 * high:.0f}"


def test_page_has_the_table_of_intervals() -> None:
    assert [int(samples) for samples, *_ in INTERVALS] == [3, 6, 12, 24, 48, 96, 192, 384]


@pytest.mark.parametrize("row", INTERVALS, ids=[row[0] for row in INTERVALS])
def test_interval_of_the_page_is_the_ledgers(row: tuple[str, ...]) -> None:
    samples, *told = row

    computed = [_interval(round(int(samples) * share), int(samples)) for share in SHARES.values()]

    assert told == computed


@pytest.mark.parametrize(("samples", "limit"), [(35, 0.10), (73, 0.05), (381, 0.01)])
def test_number_of_starts_that_rules_out_a_rate_is_the_least(samples: int, limit: float) -> None:
    fewer, enough = wilson_interval(0, samples - 1), wilson_interval(0, samples)

    assert f"{limit:.0%}".replace("%", " %") in PAGE
    assert fewer is not None
    assert enough is not None
    assert enough[1] < limit <= fewer[1]


def test_bad_answers_of_the_page_are_the_recorded_ones() -> None:
    steered = [one for one in bad().values() if one.steered]
    of_mtp1 = [one for one in steered if one.mtp == 1]

    assert f"In all {len(steered)} bad answers" in PAGE
    assert f"the JSON follows at once | 0 of {len(of_mtp1)} |" in PAGE
    assert f"The {len(bad())} bad answers" in PAGE
