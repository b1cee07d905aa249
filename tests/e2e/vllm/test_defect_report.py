"""The table, from made-up measurements; needs no vLLM."""

from pathlib import Path

from tests.e2e.vllm.defect_asking import Asked, Tried
from tests.e2e.vllm.defect_report import TABLE, Measured, clear, report, write_report
from tests.engines.steering.client import Landing

BROKEN = Tried("first", valid=False, faults=("leading_junk",), landing=Landing.DRAFT)
CURED = Tried("vary", valid=True, faults=(), landing=None)
SOUND = Tried("first", valid=True, faults=(), landing=Landing.BONUS)


def _asked(case: str, *attempts: Tried) -> Asked:
    return Asked(case, "city", stream=False, attempts=attempts, valid=True, exact=True)


def _measured() -> Measured:
    asked = (_asked("draft", BROKEN, CURED), _asked("draft", BROKEN, CURED), _asked("bonus", SOUND))
    return Measured(
        "0.24.0, MTP1", "2026-11-30", asked, "vLLM itself", bypassed=4, bypassed_valid=1
    )


def test_table_has_a_row_for_each_case() -> None:
    rows = [line for line in report([_measured()]).splitlines() if line.startswith("| 0")]

    assert rows == [
        "| 0.24.0, MTP1 | draft | 2 | 4 | 0 of 2 | 0 to 66 % | `vary` (thinking off) 2 | 2 of 2 |",
        "| 0.24.0, MTP1 | bonus | 1 | 1 | 1 of 1 | 21 to 100 % | nothing to cure | 1 of 1 |",
    ]


def test_first_line_says_what_produced_the_defect() -> None:
    control = Measured("0.32.0, MTP1", "2026-11-30", (_asked("draft", SOUND),))

    lines = report([_measured(), control]).splitlines()

    assert lines[0] == "The defect is produced by vLLM itself."
    assert not [line for line in lines[1:] if "produced" in line]


def test_answers_without_the_proxy_and_the_day_stand_below_the_table() -> None:
    assert "without the proxy: 1 of 4 answers valid." in report([_measured()])
    assert report([_measured()]).endswith("Measured on 2026-11-30, on the CPU.\n")


def test_table_is_left_beside_the_measurements_until_they_are_cleared(tmp_path: Path) -> None:
    _measured().save(tmp_path, "1-defect")

    assert write_report(tmp_path) == report([_measured()])
    assert (tmp_path / TABLE).read_text() == report([_measured()])
    clear(tmp_path)
    assert not list(tmp_path.iterdir())
