import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import Fault
from proxy.ledger.merge import StoredStart
from proxy.ledger.rows import request_rows, start_row, stored_request, stored_start
from proxy.ledger.tables import ATTEMPTS, ENGINE_STARTS, REQUESTS, VERDICTS
from proxy.telemetry.engine_start import EngineStartRecord
from proxy.telemetry.outcome import Unchecked
from proxy.telemetry.record import AttemptRecord, RequestRecord, VerdictRecord
from tests.fakes.records import (
    attempt_record,
    clean_start,
    request_record,
    start_record,
    verdict_record,
)


def _again(record: RequestRecord) -> RequestRecord:
    rows = request_rows(record)
    return stored_request(rows.request, rows.attempts, rows.verdicts)


def test_request_comes_back_as_it_was() -> None:
    failed, good = attempt_record(1, Fault.LEADING_JUNK), attempt_record(2)
    record = request_record(
        key="agent",
        stream=True,
        attempts=(failed, good),
        verdicts=good.verdicts,
        repairs=("unwrap_fence", "drop_think_tag"),
        unchecked=(Unchecked.PATTERN,),
        hold_seconds=0.25,
        completion_tokens=7,
        error_code="leading_junk",
    )

    assert _again(record) == record


def test_refused_request_comes_back_without_attempts() -> None:
    record = request_record(policy=None)

    assert _again(record) == record
    assert request_rows(record).request["decided_attempt"] is None


def test_verdicts_of_all_attempts_and_gates_keep_their_order() -> None:
    verdicts = (verdict_record(gate="z"), verdict_record(gate="a", warnings=("w, x", "y")))
    record = request_record(attempts=(attempt_record(1, verdicts=verdicts),), verdicts=verdicts)

    assert _again(record) == record


def test_every_member_of_a_record_has_its_column() -> None:
    def columns(record: type[msgspec.Struct], *elsewhere: str) -> set[str]:
        return set(record.__struct_fields__) - set(elsewhere)

    assert columns(EngineStartRecord) <= set(ENGINE_STARTS.c.keys())
    assert columns(RequestRecord, "attempts", "verdicts") <= set(REQUESTS.c.keys())
    assert columns(AttemptRecord, "verdicts") <= set(ATTEMPTS.c.keys())
    assert columns(VerdictRecord) <= set(VERDICTS.c.keys())


def test_rows_fill_every_column_but_those_the_database_fills() -> None:
    rows = request_rows(request_record(attempts=(attempt_record(),)))

    assert set(rows.request) == set(REQUESTS.c.keys()) - {"number"}
    assert set(rows.attempts[0]) == set(ATTEMPTS.c.keys()) - {"request"}
    assert set(rows.verdicts[0]) == set(VERDICTS.c.keys()) - {"request"}
    assert set(start_row(StoredStart(start_record()))) == set(ENGINE_STARTS.c.keys())


def test_start_comes_back_as_it_was() -> None:
    start = clean_start("k", Fault.LEADING_JUNK, retry_step="cold", facts={"vllm": "0.32.0"})
    stored = StoredStart(start, "writer")

    assert stored_start(start_row(stored)) == stored


def test_values_are_plain_so_that_no_driver_takes_an_enum_s_name() -> None:
    rows = request_rows(request_record(attempts=(attempt_record(1, Fault.NOT_JSON),)))
    start = start_row(StoredStart(clean_start("k", Fault.NOT_JSON)))

    for row in (rows.request, *rows.attempts, *rows.verdicts, start):
        assert {type(value) for value in row.values()} <= {str, int, float, bool, type(None)}


@given(st.text(max_size=2000))
def test_any_text_becomes_one_that_databases_take(text: str) -> None:
    rows = request_rows(request_record(text))

    stored = rows.request["id"]
    assert "\x00" not in stored
    assert len(stored) <= 1000
    stored.encode()


@pytest.mark.parametrize("text", ["\ud800", "a\x00b"])
def test_what_no_database_takes_is_replaced(text: str) -> None:
    assert request_rows(request_record(text)).request["id"] in ("?", "a\N{REPLACEMENT CHARACTER}b")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_number_that_is_none_is_not_known(value: float) -> None:
    rows = request_rows(request_record(tokens_per_second=value))
    start = start_row(StoredStart(start_record(started_at=value)))

    assert rows.request["tokens_per_second"] is None
    assert start["started_at"] is None


def test_absurd_counts_are_cut_to_what_a_column_holds() -> None:
    record = request_record(
        prompt_tokens=10**30, failed_attempt_tokens=-(10**30), status=10**12, attempts=()
    )

    row = request_rows(record).request
    assert row["prompt_tokens"] == 2**63 - 1
    assert row["failed_attempt_tokens"] == -(2**63 - 1)
    assert row["status"] == 2**31 - 1


def test_word_of_another_version_is_an_error() -> None:
    row = {**start_row(StoredStart(start_record())), "told_by": "guess"}

    with pytest.raises(msgspec.ValidationError, match="guess"):
        stored_start(row)
