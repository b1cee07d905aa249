import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.telemetry.engine_start import EngineStartRecord, StartSource
from proxy.upstream.start_times import Seen, StartTimes


def _known(started_at: float, seen_at: float, over_at: float | None = None) -> EngineStartRecord:
    return EngineStartRecord(
        "main", repr(started_at), StartSource.METRICS, seen_at, started_at, over_at=over_at
    )


def _see(times: StartTimes, *started_at: float) -> list[Seen]:
    return [times.see(each) for each in started_at]


def test_restarts_one_after_the_other_never_alternate() -> None:
    times = StartTimes()

    assert _see(times, 1, 1, 2, 2, 3) == [Seen.NEW, Seen.SAME, Seen.NEW, Seen.SAME, Seen.NEW]


def test_clock_that_was_set_back_makes_no_replicas() -> None:
    times = StartTimes()

    assert _see(times, 300, 200, 100) == [Seen.NEW] * 3


@pytest.mark.parametrize("replicas", [2, 3, 7])
def test_replicas_alternate_from_the_first_return_on(replicas: int) -> None:
    times = StartTimes()
    round_robin = list(range(1, replicas + 1))

    seen = _see(times, *round_robin, *round_robin, *round_robin)

    assert seen == [Seen.NEW] * replicas + [Seen.ALTERNATING] * 2 * replicas


def test_replica_that_joins_while_others_alternate_is_no_new_start() -> None:
    times = StartTimes()
    _see(times, 1, 2, 1)

    assert _see(times, 3, 2, 3) == [Seen.ALTERNATING] * 3


def test_one_process_seen_for_a_while_tells_again() -> None:
    times = StartTimes()
    _see(times, 1, 2, 1)

    seen = _see(times, *[2] * 31)

    assert seen == [Seen.ALTERNATING] * 30 + [Seen.SAME]
    assert times.see(3) is Seen.NEW


def test_looks_must_follow_one_another_for_a_process_to_tell_again() -> None:
    times = StartTimes()
    _see(times, 1, 2, 1)

    seen = _see(times, *[2] * 20, 1, *[2] * 20)

    assert seen == [Seen.ALTERNATING] * 41


def test_replica_that_comes_back_later_is_known() -> None:
    times = StartTimes()
    _see(times, 1, 2, *[1] * 40)

    assert times.see(2) is Seen.ALTERNATING


def test_start_that_was_over_in_an_earlier_run_and_lives_is_a_replica() -> None:
    remembered = [_known(1, seen_at=10, over_at=20), _known(2, seen_at=20)]

    assert _see(StartTimes(remembered), 1) == [Seen.ALTERNATING]
    assert _see(StartTimes(remembered), 2, 1) == [Seen.NEW, Seen.ALTERNATING]


def test_remembered_starts_that_are_not_over_make_no_replicas() -> None:
    times = StartTimes([_known(1, seen_at=10), _known(2, seen_at=20)])

    assert _see(times, 1, 3) == [Seen.NEW, Seen.NEW]


def test_process_that_woke_is_not_over() -> None:
    woke = EngineStartRecord("main", "1.0/wake-15", StartSource.METRICS, 15, 1, woke=True)

    times = StartTimes([_known(1, seen_at=10, over_at=15), woke])

    assert times.see(1) is Seen.NEW


def test_memory_of_start_times_is_bounded() -> None:
    times = StartTimes()

    _see(times, *range(1, 2000))

    assert len(times._left) == 256


@given(st.lists(st.floats(1, 1e10), unique=True, max_size=20), st.data())
def test_start_times_that_never_return_never_alternate(
    started_at: list[float], data: st.DataObject
) -> None:
    times = StartTimes()

    for each in started_at:
        repeats = data.draw(st.integers(1, 3))
        assert _see(times, *[each] * repeats) == [Seen.NEW] + [Seen.SAME] * (repeats - 1)
