from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.ledger.merge import StoredStart, merged
from proxy.telemetry.engine_start import AskedBy, EngineStartRecord, FirstAnswer, StartSource
from tests.fakes.records import SEEN_AT, start_record

INVALID: dict[str, Any] = {
    "first_answer": FirstAnswer.INVALID,
    "first_by": AskedBy.REQUEST,
    "first_fault": "leading_junk",
    "untouched": True,
}


def told(*reports: tuple[str, EngineStartRecord]) -> StoredStart:
    """What is stored after reports, each of a writer."""
    stored: StoredStart | None = None
    for writer, record in reports:
        stored = merged(stored, record, writer)
    assert stored
    return stored


def test_first_report_is_stored_as_it_is() -> None:
    record = start_record(**INVALID)

    assert told(("a", record)) == StoredStart(record, "a")
    assert told(("a", start_record())) == StoredStart(start_record(), None)


def test_known_fact_outlives_a_report_that_does_not_know_it() -> None:
    known = start_record(
        untouched=True, ready_seconds=31.5, certified_at=SEEN_AT, facts={"vllm": "0.32.0"}
    )

    stored = told(("a", known), ("b", start_record(started_at=None)))

    assert stored.record == known


def test_facts_of_all_tellers_come_together() -> None:
    stored = told(
        ("a", start_record(facts={"vllm": "1"})), ("b", start_record(facts={"model": "m"}))
    )

    assert stored.record.facts == {"vllm": "1", "model": "m"}


def test_start_was_seen_when_the_first_saw_it() -> None:
    stored = told(("a", start_record()), ("b", start_record(seen_at=SEEN_AT - 5)))

    assert stored.record.seen_at == SEEN_AT - 5


def test_later_answer_of_another_proxy_is_not_the_first() -> None:
    valid = start_record(first_answer=FirstAnswer.VALID, untouched=False)

    stored = told(("a", start_record(**INVALID)), ("b", valid))

    assert stored.first_writer == "a"
    assert stored.record.first_answer is FirstAnswer.INVALID
    assert stored.record.first_fault == "leading_junk"
    assert stored.record.untouched is True


def test_retry_of_another_proxy_is_not_that_of_the_first_answer() -> None:
    other = start_record(**INVALID, retry_step="cold", retry_valid=True, cured_by="cold")

    stored = told(("a", start_record(**INVALID)), ("b", other))

    assert (stored.record.retry_step, stored.record.cured_by) == (None, None)


def test_retry_and_cure_of_the_same_proxy_are_added() -> None:
    retried: dict[str, Any] = {**INVALID, "retry_step": "cold", "retry_valid": False}

    stored = told(
        ("a", start_record(**INVALID)),
        ("a", start_record(**retried)),
        ("a", start_record(**retried, cured_by="vary")),
    )

    assert stored.record.retry_step == "cold"
    assert stored.record.retry_valid is False
    assert stored.record.cured_by == "vary"


def test_engine_that_worked_before_its_first_answer_is_no_clean_sample() -> None:
    stored = told(("a", start_record(untouched=True)), ("a2", start_record(untouched=False)))

    assert stored.record.untouched is False


def test_untouched_is_what_the_teller_of_the_first_answer_says() -> None:
    stored = told(("b", start_record(untouched=False)), ("a", start_record(**INVALID)))

    assert stored.record.untouched is True


def test_certification_and_end_stay_what_they_were_first() -> None:
    first = start_record(certified_at=1.0, over_at=9.0)

    stored = told(("a", first), ("b", start_record(certified_at=2.0, over_at=8.0)))

    assert (stored.record.certified_at, stored.record.over_at) == (1.0, 9.0)


def test_a_start_that_woke_has_woken() -> None:
    assert told(("a", start_record()), ("b", start_record(woke=True))).record.woke


def _maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


RECORDS = st.builds(
    EngineStartRecord,
    lane=st.just("main"),
    key=st.just("k"),
    told_by=st.just(StartSource.METRICS),
    seen_at=st.floats(0, 9),
    started_at=_maybe(st.floats(0, 9)),
    ready_seconds=_maybe(st.floats(0, 9)),
    untouched=_maybe(st.booleans()),
    woke=st.booleans(),
    first_answer=st.sampled_from(FirstAnswer),
    first_by=_maybe(st.sampled_from(AskedBy)),
    first_fault=_maybe(st.just("not_json")),
    retry_step=_maybe(st.just("cold")),
    retry_valid=_maybe(st.booleans()),
    cured_by=_maybe(st.just("cold")),
    certified_at=_maybe(st.floats(0, 9)),
    over_at=_maybe(st.floats(0, 9)),
    facts=st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy")),
)


@given(st.lists(st.tuples(st.sampled_from("abc"), RECORDS), min_size=1))
def test_nothing_known_is_ever_forgotten(reports: list[tuple[str, EngineStartRecord]]) -> None:
    stored: StoredStart | None = None
    for writer, record in reports:
        before, stored = stored, merged(stored, record, writer)
        if before is None:
            continue
        for name in ("started_at", "ready_seconds", "untouched", "certified_at", "over_at"):
            assert getattr(before.record, name) is None or getattr(stored.record, name) is not None
        if before.record.first_answer is not FirstAnswer.UNKNOWN:
            for name in ("first_answer", "first_by", "first_fault", "untouched"):
                assert getattr(before.record, name) in (None, getattr(stored.record, name))
            assert stored.first_writer == before.first_writer


@given(RECORDS, st.sampled_from("ab"))
def test_telling_the_same_twice_changes_nothing(record: EngineStartRecord, writer: str) -> None:
    once = merged(None, record, writer)

    assert merged(once, record, writer) == once


@pytest.mark.parametrize("answer", [FirstAnswer.VALID, FirstAnswer.INVALID])
def test_first_known_answer_of_any_teller_is_kept(answer: FirstAnswer) -> None:
    stored = told(("a", start_record()), ("b", start_record(first_answer=answer)))

    assert stored.record.first_answer is answer
    assert stored.first_writer == "b"
