import math

import pytest

from proxy.ledger.interval import wilson_interval


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [
        (2, 3, 0.2077, 0.9385),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (0, 1, 0.0, 0.7935),
        (1, 1, 0.2065, 1.0),
        (5, 10, 0.2366, 0.7634),
    ],
)
def test_known_intervals(hits: int, trials: int, low: float, high: float) -> None:
    assert wilson_interval(hits, trials) == pytest.approx((low, high), abs=5e-5)


def test_without_trials_there_is_no_interval() -> None:
    assert wilson_interval(0, 0) is None


@pytest.mark.parametrize("trials", [1, 2, 3, 7, 50, 1000])
def test_interval_holds_the_rate_and_stays_within_bounds(trials: int) -> None:
    for hits in range(trials + 1):
        interval = wilson_interval(hits, trials)

        assert interval
        assert 0 <= interval[0] <= hits / trials <= interval[1] <= 1


@pytest.mark.parametrize(("hits", "trials"), [(1, 3), (31, 72), (499, 1000)])
def test_bounds_are_the_rates_that_a_score_test_just_does_not_reject(
    hits: int, trials: int
) -> None:
    interval = wilson_interval(hits, trials)

    assert interval
    for bound in interval:
        deviations = (hits / trials - bound) / math.sqrt(bound * (1 - bound) / trials)
        assert abs(deviations) == pytest.approx(1.959964, abs=1e-6)
