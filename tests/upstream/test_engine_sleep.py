import pytest

from proxy.telemetry.engine_start import EngineStartRecord, FirstAnswer, StartSource
from proxy.upstream.counters import Counters
from proxy.upstream.engine import EngineState
from proxy.upstream.sample import EngineStart
from tests.fakes.engine import certify, record_of, seen_engine, unseen_engine

ONE, TWO, THREE = 1.5, 2.5, 3.5


def _asleep(level: int, work: float = 5) -> Counters:
    return Counters(ONE, work, asleep=True, discarded=level == 2)


def test_engine_that_sleeps_is_loading_and_wakes_as_it_was_from_level_1() -> None:
    engine, told = seen_engine()
    certify(engine)

    engine.saw_page(_asleep(1))
    asleep, state = engine.is_asleep, engine.state
    engine.saw_alive()
    engine.saw_page(Counters(ONE, work=5))

    assert (asleep, state) == (True, EngineState.LOADING)
    assert engine.state is EngineState.CERTIFIED
    assert not engine.is_asleep
    assert list(told.latest) == ["1.5"]


@pytest.mark.parametrize(
    ("work", "untouched"), [(5, True), (6, False)], ids=["nobody_worked", "worked"]
)
def test_waking_from_level_2_is_a_new_start(work: float, untouched: bool) -> None:
    engine, told = seen_engine()
    certify(engine)

    engine.saw_page(_asleep(2))
    engine.saw_page(_asleep(2))
    engine.saw_page(Counters(ONE, work=work))

    assert engine.state is EngineState.COLD
    record = record_of(engine)
    assert record.key.startswith("1.5/wake-")
    assert (record.woke, record.untouched) == (True, untouched)
    assert told.latest["1.5"].over_at is not None
    assert engine.start == EngineStart(2, untouched)


def test_level_2_is_not_forgotten_while_the_engine_wakes_in_parts() -> None:
    engine, _ = seen_engine()

    engine.saw_page(_asleep(2))
    engine.saw_page(Counters(ONE, work=5, asleep=True))
    engine.saw_page(Counters(ONE, work=5))

    assert record_of(engine).woke


def test_request_that_waited_for_the_engine_to_wake_is_the_sample_of_the_waking() -> None:
    engine, told = seen_engine()
    certify(engine)

    engine.saw_page(_asleep(2))
    sample = engine.dispatch()
    engine.settle(sample, valid=False, fault="leading_junk")
    engine.saw_page(Counters(ONE, work=9))

    record = told.records[-1]
    assert record.woke
    assert (record.first_answer, record.untouched) == (FirstAnswer.INVALID, None)


def test_looks_at_an_engine_that_sleeps_take_nothing_from_what_was_answered() -> None:
    engine, told = seen_engine()

    engine.saw_page(_asleep(2))
    certify(engine)
    engine.saw_page(_asleep(2))
    engine.saw_page(Counters(ONE, work=9))

    assert told.records[-1].first_answer is FirstAnswer.VALID


def test_each_waking_is_a_start_of_its_own() -> None:
    engine, told = seen_engine()

    for _ in range(3):
        engine.saw_page(_asleep(2))
        engine.saw_page(Counters(ONE, work=5))

    assert engine.start.number == 4
    assert len(told.latest) == 4


def test_engine_restarted_while_it_slept_did_not_wake() -> None:
    engine, _ = seen_engine()

    engine.saw_page(_asleep(2))
    engine.saw_page(Counters(TWO))

    assert not record_of(engine).woke
    assert engine.state is EngineState.COLD


def test_woken_start_is_remembered_by_a_restarted_proxy() -> None:
    plain = EngineStartRecord("main", "1.5", StartSource.METRICS, 10, ONE, over_at=20)
    woke = EngineStartRecord(
        "main", "1.5/wake-20.000", StartSource.METRICS, 20, ONE, woke=True, certified_at=21
    )
    engine, _ = unseen_engine({record.key: record for record in (woke, plain)})

    engine.saw_page(Counters(ONE, work=9))

    assert engine.state is EngineState.CERTIFIED
    assert record_of(engine).key == woke.key


def test_proxy_that_starts_before_a_sleeping_engine_sees_it_wake() -> None:
    engine, told = seen_engine(_asleep(2))

    state = engine.state
    engine.saw_page(Counters(ONE, work=5))

    assert state is EngineState.LOADING
    assert len(told.latest) == 2
    assert record_of(engine).woke


def test_sleep_is_forgotten_with_the_counters() -> None:
    engine, told = seen_engine()

    engine.saw_page(_asleep(2))
    engine.saw_page(None)

    assert engine.state is EngineState.COLD
    assert len(told.latest) == 2
