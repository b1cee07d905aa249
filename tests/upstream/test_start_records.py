import pytest
from msgspec.structs import replace

from proxy.telemetry.engine_start import EngineStartRecord, FirstAnswer, StartSource
from proxy.upstream.counters import Counters
from proxy.upstream.start_records import Arrival, by_counters, by_fallback, by_waking, taken_over

NOW = 1_796_012_400.25
STARTED_AT = 1_796_012_357.01


def test_key_is_the_start_time_in_all_its_digits() -> None:
    record = by_counters(Arrival("main", NOW), Counters(STARTED_AT))

    assert record == EngineStartRecord(
        "main", "1796012357.01", StartSource.METRICS, NOW, STARTED_AT, untouched=True
    )
    assert float(record.key) == STARTED_AT


def test_key_of_the_fallback_is_the_instant() -> None:
    record = by_fallback(Arrival("main", NOW))

    assert record == EngineStartRecord("main", "seen-1796012400.250000", StartSource.FALLBACK, NOW)


def test_key_of_a_waking_differs_from_the_plain_start() -> None:
    slept = Counters(STARTED_AT, work=7, asleep=True, discarded=True)

    record = by_waking(Arrival("main", NOW), slept, Counters(STARTED_AT, work=7))

    assert record.key == "1796012357.01/wake-1796012400.250"
    assert (record.woke, record.untouched, record.started_at) == (True, True, STARTED_AT)


@pytest.mark.parametrize(
    ("work", "own_work", "untouched"),
    [(0, False, True), (0, True, True), (5, False, False), (5, True, None)],
    ids=["fresh", "asked_in_vain", "others_worked", "perhaps_we"],
)
def test_untouched_is_not_known_where_the_work_may_be_our_own(
    work: float, own_work: bool, untouched: bool | None
) -> None:
    arrival = Arrival("main", NOW, own_work=own_work)

    assert by_counters(arrival, Counters(STARTED_AT, work)).untouched is untouched


@pytest.mark.parametrize(
    ("alive_at", "ready_seconds"),
    [(STARTED_AT + 42, 42), (None, None), (STARTED_AT - 1, None)],
    ids=["was_away", "was_there", "clocks_disagree"],
)
def test_time_to_ready_is_known_where_the_engine_was_seen_to_be_away(
    alive_at: float | None, ready_seconds: float | None
) -> None:
    arrival = Arrival("main", NOW, alive_at)

    record = by_counters(arrival, Counters(STARTED_AT))

    assert record.ready_seconds == (None if ready_seconds is None else pytest.approx(ready_seconds))


def test_remembered_start_is_taken_over_as_it_was() -> None:
    known = EngineStartRecord(
        *("main", "1", StartSource.METRICS, 5.0, 1.0),
        untouched=True,
        first_answer=FirstAnswer.INVALID,
        certified_at=9.0,
        facts={"vllm": "0.32.0"},
    )

    assert taken_over(known, Counters(1.0, work=99)) == known


@pytest.mark.parametrize("untouched", [True, False, None])
def test_remembered_start_that_worked_meanwhile_is_no_clean_sample(untouched: bool | None) -> None:
    known = EngineStartRecord(
        "main", "1", StartSource.METRICS, 5.0, 1.0, untouched=untouched, over_at=8.0
    )

    taken = taken_over(known, Counters(1.0, work=1))

    assert taken == replace(known, untouched=False, over_at=None)
    assert taken_over(known, Counters(1.0)).untouched is untouched
