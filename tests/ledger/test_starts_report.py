import json

import pytest

from proxy.ledger.starts_report import starts_json, starts_table
from proxy.telemetry.engine_start import StartSource
from tests.fakes.records import clean_start, start_record

FACTS = {"model": "Qwen/Qwen3.6-35B-A3B-FP8", "vllm": "0.32.0"}
ARTICLE = [
    clean_start(
        "1", "leading_junk", facts=FACTS, ready_seconds=93.04, retry_step="cold",
        retry_valid=True, cured_by="cold",
    ),
    clean_start(
        "2", "leading_junk", facts=FACTS, retry_step="cold", retry_valid=False, cured_by="vary"
    ),
    clean_start("3", facts=FACTS),
]  # fmt: skip


def test_each_start_is_one_line_below_its_headings() -> None:
    lines = list(starts_table(ARTICLE, "ledger.db"))

    assert lines[1].split() == [
        *("when", "(UTC)", "lane", "model", "vLLM", "told", "by", "untouched", "ready", "s"),
        *("first", "fault", "retry", "cured", "by"),
    ]
    assert lines[2].split() == [
        *("2026-11-30", "00:53", "main", "Qwen3.…B-FP8", "0.32.0", "metrics", "yes", "93.0"),
        *("invalid", "leading_junk", "cold", "valid", "cold"),
    ]
    assert lines[4].endswith("valid")


def test_rate_is_told_with_its_interval_and_what_the_retry_cured() -> None:
    lines = list(starts_table(ARTICLE, "ledger.db"))

    assert lines[-2:] == [
        "main: 2 of 3 first answers invalid: 67 %, 95 % interval 21–94 %.",  # noqa: RUF001
        "main: of 2 invalid ones the identical retry cured 1; 2 had one.",
    ]


def test_starts_that_are_no_samples_stand_apart_and_in_no_rate() -> None:
    other = start_record("9", told_by=StartSource.FALLBACK, facts={"model": "other"})

    lines = list(starts_table([*ARTICLE, other], "ledger.db"))

    apart = next(index for index, line in enumerate(lines) if line.startswith("Others"))
    assert lines[apart + 2].split() == [
        *("2026-11-30", "00:53", "main", "other", "fallback", "?", "unknown"),
    ]
    assert lines[-2].endswith("1 other start is not counted.")
    assert "2 of 3" in lines[-2]


def test_lane_without_a_clean_sample_has_no_rate() -> None:
    lines = list(starts_table([start_record("1"), start_record("2")], "ledger.db"))

    assert lines[-1] == "main: no clean sample yet. 2 other starts are not counted."
    assert not any(line.startswith("Clean") for line in lines)


@pytest.mark.parametrize("longest", [10, 200])
def test_table_fits_a_terminal_of_120_columns(longest: int) -> None:
    start = clean_start(
        "1",
        "arguments_violate_schema",
        lane="l" * min(longest, 32),
        told_by=StartSource.FALLBACK,
        facts={"model": "m" * longest, "vllm": "v" * longest},
        ready_seconds=12345.6,
        retry_step="upstream_fault",
        retry_valid=False,
        cured_by="upstream_fault",
    )

    assert all(len(line) <= 120 for line in starts_table([start], "ledger.db"))


def test_empty_ledger_says_where_starts_come_from() -> None:
    lines = list(starts_table([], "/data/ledger.db"))

    assert lines[0] == "No engine starts in /data/ledger.db."
    assert "sluicegate serve" in lines[1]


def test_json_holds_starts_as_kept_and_the_rates() -> None:
    document = json.loads(starts_json([*ARTICLE, start_record("9")]))

    assert document["starts"][0]["first_fault"] == "leading_junk"
    assert [start["clean"] for start in document["starts"]] == [True, True, True, False]
    (lane,) = document["lanes"]
    assert lane.pop("rate") == pytest.approx(2 / 3)
    assert lane.pop("interval") == pytest.approx([0.2077, 0.9385], abs=5e-5)
    assert lane == {
        "lane": "main",
        "samples": 3,
        "invalid": 2,
        "retried_identically": 2,
        "cured_by_identical_retry": 1,
        "other_starts": 1,
    }


def test_json_without_samples_has_no_rate() -> None:
    document = json.loads(starts_json([start_record()]))

    assert (document["lanes"][0]["rate"], document["lanes"][0]["interval"]) == (None, None)
    assert json.loads(starts_json([])) == {"starts": [], "lanes": []}
