import pytest

from proxy.telemetry.timing import StreamTimes, tokens_per_second


def test_rate_counts_tokens_after_the_first_event_over_the_time_between_first_and_last() -> None:
    times = StreamTimes(first_response=0.9, first_token=1.0, last_token=3.0)

    assert tokens_per_second(times, 129) == pytest.approx(64.0)


def test_tokens_of_the_first_event_do_not_count_where_ids_tell_them() -> None:
    times = StreamTimes(first_token=1.0, last_token=3.0, first_token_ids=2)

    assert tokens_per_second(times, 130) == pytest.approx(64.0)


@pytest.mark.parametrize(
    ("times", "tokens"),
    [
        (StreamTimes(first_token=1.0, last_token=2.0), None),
        (StreamTimes(), 10),
        (StreamTimes(first_token=1.0, last_token=1.0), 10),
        (StreamTimes(first_token=1.0, last_token=2.0), 1),
    ],
    ids=["no_usage", "no_token", "one_event", "one_token"],
)
def test_rate_is_undefined(times: StreamTimes, tokens: int | None) -> None:
    assert tokens_per_second(times, tokens) is None
