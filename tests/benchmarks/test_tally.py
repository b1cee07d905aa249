"""What a load counts."""

import pytest
from tally import Tally, quantile_ms

SECOND = 1_000_000_000


def closed(*replies: tuple[float, float], opens: float = 10, closes: float = 20) -> Tally:
    """A tally whose replies were sent and ended at these seconds."""
    tally = Tally(round(opens * SECOND), connections=1, closes_at=round(closes * SECOND))
    tally.replies = [(round(sent * SECOND), round(ended * SECOND)) for sent, ended in replies]
    return tally


def test_rate_counts_a_reply_by_the_share_of_its_time_that_was_measured() -> None:
    tally = closed((5, 15), (12, 14), (18, 22), (1, 2), (21, 30))

    figures = tally.figures()

    assert figures.per_second == pytest.approx((0.5 + 1 + 0.5) / 10)
    assert figures.completed == 2
    assert figures.replies == 5


def test_durations_are_those_of_replies_that_ended_in_time() -> None:
    figures = closed((5, 15), (12, 14), (18, 22)).figures()

    assert figures.p50_ms == 10_000
    assert figures.p99_ms == 10_000


def test_ways_of_fewer_samples_than_connections_are_not_told() -> None:
    tally = closed()
    tally.connections = 2
    tally.ways = [SECOND]

    figures = tally.figures()

    assert figures.way_samples == 1
    assert figures.way_p50_ms is None


def test_load_of_a_count_is_over_when_all_are_sent() -> None:
    tally = Tally(0, connections=1, unsent=2)

    tally.take()
    was_over = tally.is_over
    tally.take()

    assert not was_over
    assert tally.is_over


def test_load_of_some_seconds_is_over_when_it_is_closed() -> None:
    tally = Tally(0, connections=1)
    tally.take()
    was_over = tally.is_over

    tally.close()

    assert not was_over
    assert tally.is_over
    assert not tally.counts(1)


@pytest.mark.parametrize(
    ("samples", "share", "found"),
    [([], 0.5, None), ([3_000_000], 0.99, 3.0), ([3, 1, 2], 0.5, 2e-6), ([3, 1, 2], 1.0, 3e-6)],
    ids=["nothing", "one", "middle", "greatest"],
)
def test_quantile(samples: list[int], share: float, found: float | None) -> None:
    assert quantile_ms(samples, share) == found
