import pytest

from proxy.telemetry.engine_start import EngineStartRecord, StartSource
from proxy.upstream.counters import Counters
from proxy.upstream.engine import EngineState
from tests.fakes.engine import certify, seen_engine, unseen_engine

ONE, TWO, THREE = 1.5, 2.5, 3.5


def test_engine_that_stops_exporting_counters_is_told_by_the_fallback_until_they_return() -> None:
    engine, told = seen_engine()
    certify(engine)

    engine.saw_page(None)
    source = engine.source
    engine.saw_page(Counters(ONE, work=9))

    assert (source, engine.source) == (StartSource.FALLBACK, StartSource.METRICS)
    assert engine.state is EngineState.CERTIFIED
    assert list(told.latest) == ["1.5"]


@pytest.mark.parametrize("started_at", [ONE, TWO], ids=["same", "restarted"])
def test_counters_that_return_after_an_outage_name_the_start_of_the_fallback(
    started_at: float,
) -> None:
    engine, told = seen_engine()
    engine.saw_page(None)
    engine.saw_unreachable()
    engine.saw_alive()
    certify(engine)

    engine.saw_page(Counters(started_at, work=9))

    assert engine.start.number == 2
    assert engine.state is EngineState.CERTIFIED
    record = told.records[-1]
    assert (record.told_by, record.started_at) == (StartSource.FALLBACK, started_at)


def test_engine_that_has_counters_only_after_an_outage_is_a_new_start() -> None:
    engine, told = seen_engine(None)
    certify(engine)

    engine.saw_unreachable()
    engine.saw_page(Counters(ONE))

    assert engine.is_cold
    assert list(told.latest)[1:] == ["1.5"]


def test_restart_while_counters_are_missing_is_seen_when_they_return() -> None:
    engine, told = seen_engine()
    engine.saw_page(None)

    engine.saw_page(Counters(TWO))

    assert list(told.latest) == ["1.5", "2.5"]


def test_restart_into_an_engine_without_counters_is_a_new_start() -> None:
    engine, told = seen_engine()
    certify(engine)

    engine.saw_unreachable()
    engine.saw_alive()
    engine.saw_page(None)

    assert engine.is_cold
    assert len(told.latest) == 2


def test_looks_without_an_answer_leave_the_starts_to_the_fallback() -> None:
    engine, told = unseen_engine()
    engine.saw_alive()
    certify(engine)

    engine.saw_no_page()
    state = engine.state
    engine.saw_page(Counters(ONE, work=9))

    assert state is EngineState.CERTIFIED
    assert engine.state is EngineState.CERTIFIED
    assert len(told.latest) == 1
    assert engine.source is StartSource.METRICS


def test_looks_without_an_answer_change_nothing_once_there_were_counters() -> None:
    engine, _ = seen_engine()

    engine.saw_no_page()

    assert engine.source is StartSource.METRICS


def test_alternating_start_times_fall_back_and_keep_the_certificate() -> None:
    engine, told = seen_engine(Counters(ONE))
    engine.saw_page(Counters(TWO))
    engine.saw_page(Counters(ONE))
    certify(engine)

    for started_at in (TWO, ONE, THREE, TWO):
        engine.saw_page(Counters(started_at, work=9))

    assert engine.source is StartSource.FALLBACK
    assert engine.state is EngineState.CERTIFIED
    assert list(told.latest) == ["1.5", "2.5"]


def test_replicas_that_are_away_together_begin_a_start_of_the_fallback() -> None:
    engine, told = seen_engine(Counters(ONE))
    engine.saw_page(Counters(TWO))
    engine.saw_page(Counters(ONE))

    engine.saw_unreachable()
    engine.saw_alive()

    assert engine.start.number == 3
    assert told.records[-1].told_by is StartSource.FALLBACK


def test_one_replica_that_stays_tells_again_without_a_new_start() -> None:
    engine, told = seen_engine(Counters(ONE))
    engine.saw_page(Counters(TWO))
    engine.saw_page(Counters(ONE))
    certify(engine)

    for _ in range(40):
        engine.saw_page(Counters(ONE, work=9))

    assert engine.source is StartSource.METRICS
    assert engine.state is EngineState.CERTIFIED
    assert list(told.latest) == ["1.5", "2.5"]


def test_restarted_proxy_before_two_replicas_falls_back_within_two_looks() -> None:
    first = EngineStartRecord("main", "1.5", StartSource.METRICS, 10, ONE, over_at=20)
    second = EngineStartRecord("main", "2.5", StartSource.METRICS, 20, TWO, certified_at=30)
    remembered = {record.key: record for record in (first, second)}

    sources = []
    for looks in ((ONE,), (TWO, ONE)):
        engine, _ = unseen_engine(remembered)
        for started_at in looks:
            engine.saw_page(Counters(started_at, work=9))
        sources.append(engine.source)

    assert sources == [StartSource.FALLBACK] * 2
