from collections.abc import Callable
from itertools import pairwise

import pytest

from proxy.telemetry.engine_start import AskedBy, FirstAnswer, SampleRole, StartSource
from proxy.upstream.counters import Counters
from proxy.upstream.engine import Engine, EngineState
from proxy.upstream.sample import EngineStart
from tests.fakes.engine import certify, record_of, seen_engine, unseen_engine

ONE, TWO = 1.5, 2.5


def test_engine_that_nobody_looked_at_is_unreachable_and_has_no_start() -> None:
    engine, told = unseen_engine()

    assert engine.state is EngineState.UNREACHABLE
    assert engine.record is None
    assert engine.is_cold
    assert told.records == []


def test_engine_is_cold_until_a_strict_answer_was_valid() -> None:
    engine, told = seen_engine()

    before = engine.state
    certify(engine)

    assert (before, engine.state) == (EngineState.COLD, EngineState.CERTIFIED)
    assert told.records[-1].certified_at is not None


def test_invalid_answer_leaves_the_engine_cold_and_its_fault_is_told() -> None:
    engine, told = seen_engine()

    engine.settle(engine.dispatch(by=AskedBy.PROBE), valid=False, fault="leading_junk")

    assert engine.is_cold
    record = told.records[-1]
    assert (record.first_answer, record.first_by) == (FirstAnswer.INVALID, AskedBy.PROBE)
    assert record.first_fault == "leading_junk"


def test_what_cured_an_invalid_sample_is_told() -> None:
    engine, told = seen_engine()

    first = engine.dispatch()
    engine.settle(first, valid=False, fault="leading_junk")
    second = engine.dispatch(step="cold", after=first)
    engine.settle(second, valid=False, fault="leading_junk")
    engine.settle(engine.dispatch(step="vary", after=second), valid=True)

    record = told.records[-1]
    assert (record.retry_step, record.retry_valid, record.cured_by) == ("cold", False, "vary")
    assert engine.state is EngineState.CERTIFIED


def test_every_change_is_told_and_nothing_twice() -> None:
    engine, told = seen_engine()

    engine.saw_page(Counters(ONE, work=5))
    engine.saw_alive()
    certify(engine)
    certify(engine)
    engine.saw_unreachable()
    engine.saw_page(Counters(ONE, work=9))

    assert len(told.records) == 2
    assert all(before != after for before, after in pairwise(told.records))


def test_new_start_time_is_a_new_cold_start() -> None:
    engine, told = seen_engine()
    certify(engine)

    engine.saw_page(Counters(TWO))

    assert engine.state is EngineState.COLD
    assert engine.start == EngineStart(2, untouched=True)
    assert engine.source is StartSource.METRICS
    assert [record.key for record in told.latest.values()] == ["1.5", "2.5"]
    assert told.latest["1.5"].over_at is not None
    assert told.latest["2.5"].over_at is None


def test_start_that_nobody_asked_strict_json_of_is_over_as_unknown() -> None:
    engine, told = seen_engine()

    engine.saw_page(Counters(TWO))

    assert told.answers == [FirstAnswer.UNKNOWN]


def test_answer_of_an_earlier_start_does_not_certify_the_present_one() -> None:
    engine, told = seen_engine()
    first, second = engine.dispatch(), engine.dispatch()

    engine.saw_page(Counters(TWO))
    engine.settle(first, valid=True)
    engine.settle(engine.dispatch(step="cold", after=second), valid=None)

    assert engine.is_cold
    assert told.latest["1.5"].first_answer is FirstAnswer.UNKNOWN
    assert engine.dispatch().is_sample


def test_engine_that_worked_before_we_saw_it_is_not_untouched() -> None:
    engine, _ = seen_engine(Counters(ONE, work=3))

    assert engine.start.untouched is False
    assert record_of(engine).untouched is False


@pytest.mark.parametrize("away", [Engine.saw_unreachable, Engine.saw_loading])
def test_without_counters_every_outage_begins_a_new_start(away: Callable[[Engine], None]) -> None:
    engine, told = seen_engine(None)
    certify(engine)

    away(engine)
    engine.saw_alive()

    assert engine.state is EngineState.COLD
    assert engine.source is StartSource.FALLBACK
    assert engine.start == EngineStart(2)
    assert len(told.latest) == 2
    assert all(key.startswith("seen-") for key in told.latest)


def test_outage_of_the_network_leaves_a_known_engine_certified() -> None:
    engine, told = seen_engine()
    certify(engine)

    engine.saw_unreachable()
    engine.saw_alive()
    in_doubt = engine.state
    engine.saw_page(Counters(ONE, work=9))

    assert in_doubt is EngineState.COLD
    assert engine.state is EngineState.CERTIFIED
    assert list(told.latest) == ["1.5"]


@pytest.mark.parametrize("counters", [Counters(ONE), None], ids=["metrics", "fallback"])
def test_loading_and_unreachable_are_states_of_their_own(counters: Counters | None) -> None:
    engine, _ = seen_engine(counters)

    engine.saw_loading()
    loading = engine.state
    engine.saw_unreachable()

    assert (loading, engine.state) == (EngineState.LOADING, EngineState.UNREACHABLE)


def test_time_to_ready_is_measured_where_the_engine_was_away() -> None:
    engine, _ = unseen_engine()
    engine.saw_unreachable()
    engine.saw_loading()

    engine.saw_page(Counters(960.0))

    assert record_of(engine).ready_seconds == 1000 - 960


def test_time_to_ready_counts_to_the_first_answer_not_to_the_look_after_it() -> None:
    engine, _ = unseen_engine()
    engine.saw_unreachable()

    engine.saw_alive()
    engine.settle(engine.dispatch(), valid=True)
    engine.saw_page(Counters(960.0))

    assert record_of(engine).ready_seconds == 1000 - 960


def test_time_to_ready_is_not_known_after_an_outage_that_another_start_outlived() -> None:
    engine, _ = seen_engine(Counters(960.0))
    engine.saw_unreachable()
    engine.saw_page(Counters(960.0))

    engine.saw_page(Counters(990.0))

    assert record_of(engine).ready_seconds is None


def test_time_to_ready_of_an_engine_that_was_there_is_not_known() -> None:
    engine, _ = seen_engine(Counters(960.0))

    assert record_of(engine).ready_seconds is None


def test_answer_after_a_restart_belongs_to_the_start_that_the_next_look_tells() -> None:
    engine, told = seen_engine()
    certify(engine)

    engine.saw_unreachable()
    sample, other = engine.dispatch(), engine.dispatch()
    engine.saw_alive()
    engine.settle(other, valid=True)
    engine.settle(sample, valid=False, fault="leading_junk")
    cure = engine.dispatch(step="cold", after=sample)
    engine.settle(cure, valid=True)
    before = len(told.records)
    engine.saw_page(Counters(TWO, work=9))

    assert before == 2
    assert (sample.role, other.role) == (SampleRole.FIRST, SampleRole.CONCURRENT)
    assert all(dispatch.cold for dispatch in (sample, other, cure))
    record = told.latest["2.5"]
    assert (record.first_answer, record.first_fault) == (FirstAnswer.INVALID, "leading_junk")
    assert (record.retry_valid, record.cured_by) == (True, "cold")
    assert record.untouched is None
    assert engine.state is EngineState.CERTIFIED


def test_sample_that_runs_while_the_look_tells_of_the_start_stays_its_sample() -> None:
    engine, told = seen_engine()
    engine.saw_unreachable()
    sample = engine.dispatch()

    engine.saw_page(Counters(TWO, work=9))
    meanwhile = engine.dispatch()
    engine.settle(sample, valid=True)

    assert meanwhile.role is SampleRole.CONCURRENT
    assert told.latest["2.5"].first_answer is FirstAnswer.VALID


def test_answers_after_an_outage_of_the_network_belong_to_the_start_that_went_on() -> None:
    engine, told = seen_engine()
    engine.settle(engine.dispatch(), valid=False, fault="not_json")

    engine.saw_unreachable()
    engine.settle(engine.dispatch(), valid=True)
    engine.saw_page(Counters(ONE, work=9))

    assert list(told.latest) == ["1.5"]
    assert told.records[-1].first_answer is FirstAnswer.INVALID
    assert engine.state is EngineState.CERTIFIED


def test_request_that_ran_through_an_outage_settles_the_start_before_it() -> None:
    engine, told = seen_engine()
    sample = engine.dispatch()

    engine.saw_unreachable()
    engine.settle(sample, valid=True)
    engine.saw_page(Counters(TWO))

    assert told.latest["1.5"].first_answer is FirstAnswer.VALID
    assert told.latest["2.5"].first_answer is FirstAnswer.UNKNOWN
    assert engine.is_cold


def test_second_outage_before_a_look_drops_what_was_answered_between() -> None:
    engine, told = seen_engine()

    engine.saw_unreachable()
    engine.saw_alive()
    engine.settle(engine.dispatch(), valid=True)
    engine.saw_unreachable()
    engine.saw_page(Counters(TWO))

    assert told.latest["2.5"].first_answer is FirstAnswer.UNKNOWN
    assert engine.is_cold


def test_sample_without_verdict_before_the_look_passes_to_the_next() -> None:
    engine, told = unseen_engine()
    engine.saw_unreachable()

    engine.settle(engine.dispatch(), valid=None)
    engine.settle(engine.dispatch(), valid=True)
    engine.saw_page(Counters(ONE, work=4))

    assert told.answers == [FirstAnswer.VALID]


def test_calls_that_are_refused_meanwhile_take_nothing_from_the_first_that_is_answered() -> None:
    engine, told = seen_engine()

    engine.saw_unreachable()
    sample = engine.dispatch()
    engine.saw_unreachable()
    engine.saw_page(Counters(TWO, work=9))
    engine.settle(sample, valid=True)

    assert told.latest["2.5"].first_answer is FirstAnswer.VALID


def test_requests_before_an_earlier_look_are_not_taken_for_the_work_of_a_new_start() -> None:
    engine, _ = seen_engine()
    engine.saw_unreachable()
    certify(engine)
    engine.saw_page(Counters(ONE, work=4))

    engine.saw_page(Counters(TWO, work=9))

    assert record_of(engine).untouched is False


def test_answers_held_back_are_bounded() -> None:
    engine, _ = unseen_engine()
    engine.saw_alive()

    for _ in range(1000):
        engine.settle(engine.dispatch(), valid=False)

    assert len(engine._held_back) == 256


def test_proxy_that_starts_before_its_engine_has_one_start_of_it() -> None:
    engine, told = unseen_engine()
    engine.saw_unreachable()
    engine.saw_unreachable()
    engine.saw_alive()
    certify(engine)

    engine.saw_page(Counters(ONE, work=9))

    assert list(told.latest) == ["1.5"]
    assert engine.start.number == 1
    assert engine.state is EngineState.CERTIFIED


def test_facts_of_the_present_start_are_told() -> None:
    engine, told = seen_engine()

    engine.learn(engine.start, {"vllm": "0.32.0"})

    assert told.records[-1].facts == {"vllm": "0.32.0"}


def test_facts_of_a_start_that_is_over_are_dropped() -> None:
    engine, told = seen_engine()
    start = engine.start

    engine.saw_page(Counters(TWO))
    engine.learn(start, {"vllm": "0.24.0"})

    assert all(not record.facts for record in told.records)


def test_facts_read_during_an_outage_are_dropped() -> None:
    engine, told = seen_engine()

    engine.saw_unreachable()
    engine.learn(engine.start, {"vllm": "0.24.0"})

    assert not told.records[-1].facts
