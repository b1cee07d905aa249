from collections.abc import Mapping

from msgspec.structs import replace

from proxy.telemetry.engine_start import EngineStartRecord, FirstAnswer, StartSource
from proxy.upstream.counters import Counters
from proxy.upstream.engine import EngineState
from tests.fakes.engine import record_of, unseen_engine

ONE, TWO, THREE = 1.5, 2.5, 3.5


def _remembered(record: EngineStartRecord) -> Mapping[str, EngineStartRecord]:
    return {record.key: record}


def test_restarted_proxy_does_not_call_a_warm_engine_cold() -> None:
    known = EngineStartRecord(
        *("main", "1.5", StartSource.METRICS, 10.0, ONE),
        untouched=True,
        first_answer=FirstAnswer.INVALID,
        first_fault="leading_junk",
        certified_at=12.0,
        facts={"vllm": "0.32.0"},
    )
    engine, told = unseen_engine(_remembered(known))

    engine.saw_page(Counters(ONE, work=9))
    sent = engine.dispatch()
    engine.settle(sent, valid=True)

    assert engine.state is EngineState.CERTIFIED
    assert sent.role is None
    assert told.records == [known]


def test_remembered_start_of_another_process_is_not_taken_over() -> None:
    known = EngineStartRecord("main", "1.5", StartSource.METRICS, 10.0, ONE, certified_at=12.0)
    engine, told = unseen_engine(_remembered(known))

    engine.saw_page(Counters(TWO))

    assert engine.is_cold
    assert list(told.latest) == ["2.5"]


def test_sample_of_a_remembered_start_is_taken_but_is_not_clean_if_it_worked() -> None:
    known = EngineStartRecord("main", "1.5", StartSource.METRICS, 10.0, ONE, untouched=True)
    engine, told = unseen_engine(_remembered(known))

    engine.saw_page(Counters(ONE, work=9))
    engine.settle(engine.dispatch(), valid=True)

    record = told.records[-1]
    assert (record.untouched, record.first_answer) == (False, FirstAnswer.VALID)


def test_start_that_the_fallback_told_of_is_remembered_by_its_start_time() -> None:
    known = EngineStartRecord(
        "main", "seen-9.000000", StartSource.FALLBACK, 9.0, ONE, certified_at=12.0
    )
    engine, _ = unseen_engine(_remembered(known))

    engine.saw_page(Counters(ONE, work=9))

    assert engine.state is EngineState.CERTIFIED
    assert record_of(engine).key == "seen-9.000000"


def test_request_before_the_first_look_writes_nothing_into_a_remembered_sample() -> None:
    known = EngineStartRecord(
        "main", "1.5", StartSource.METRICS, 10.0, ONE, first_answer=FirstAnswer.INVALID
    )
    engine, told = unseen_engine(_remembered(known))

    first = engine.dispatch()
    engine.settle(first, valid=False, fault="not_json")
    engine.settle(engine.dispatch(step="cold", after=first), valid=True)
    engine.saw_page(Counters(ONE, work=9))

    record = told.records[-1]
    assert record.certified_at is not None
    assert record == replace(known, certified_at=record.certified_at)
