import json
from dataclasses import replace
from typing import Any

from proxy.bench.contract_cases import CaseKind
from proxy.bench.contract_reading import Reading
from proxy.bench.contract_report import ContractReport
from proxy.bench.contract_run import Measured, Trial
from tests.fakes.contract import CASES

SHORT = next(case for case in CASES if case.kind is CaseKind.SHORT_TEXT)
TEASER = next(case for case in CASES if case.kind is CaseKind.TEASER)
WRONG = Measured(Reading(("too_long",), ("number",), ("name",)))
RIGHT = Measured(Reading(), "passed", 2)
TRIALS = (Trial(SHORT, 1, WRONG, RIGHT), Trial(TEASER, 1, RIGHT, RIGHT))
REPORT = ContractReport("tiny", "editorial-de@0123456789ab", 2, 1, TRIALS)


def cells(report: ContractReport) -> dict[str, list[str]]:
    """The table's cells by the name of their row; of several rows of one name the last."""
    rows = (line.split("  ") for line in report.lines())
    found = ([cell.strip() for cell in row if cell.strip()] for row in rows)
    return {row[0]: row[1:] for row in found if row}


def document(report: ContractReport) -> Any:
    return json.loads(report.json())


def test_table_has_both_sides() -> None:
    told = cells(REPORT)

    assert told["before the gate"] == ["after the gate"]
    assert told["usable short texts"] == ["0/1 (0–79 %)", "1/1 (21–100 %)"]  # noqa: RUF001
    assert told["usable teasers"] == ["1/1 (21–100 %)"] * 2  # noqa: RUF001
    assert told["too_long"] == ["1", "0"]
    assert told["number"] == ["1", "0"]
    assert told["name"] == ["1", "0"]
    assert told["calls of the server"] == ["3", "4"]


def test_heading_names_what_was_measured() -> None:
    assert next(REPORT.lines()) == "model tiny, policy editorial-de@0123456789ab: 2 cases, 1 runs"


def test_kind_without_faults_says_so() -> None:
    lines = list(REPORT.lines())

    assert lines[lines.index("kinds of failure, teasers") + 1] == "  none"


def test_side_that_was_not_measured_has_dashes() -> None:
    gated = replace(REPORT, trials=[replace(trial, before=None) for trial in TRIALS])

    told = cells(gated)

    assert told["usable short texts"] == ["-", "1/1 (21–100 %)"]  # noqa: RUF001
    assert any("itself a gate" in line for line in gated.lines())
    assert document(gated)["before"] is None


def test_unfinished_measurement_says_how_far_it_came_and_why() -> None:
    report = replace(REPORT, runs=3, ended="The server left.")

    assert "Not complete: 2 of 6 trials. The server left." in list(report.lines())
    assert document(report)["complete"] is False
    assert document(report)["ended"] == "The server left."


def test_measurement_without_a_trial_has_no_table() -> None:
    lines = list(replace(REPORT, trials=()).lines())

    assert len(lines) == 2


def test_document_has_counts_and_trials_and_no_text() -> None:
    told = document(REPORT)

    assert told["complete"] is True
    assert told["after"]["usable"]["short_text"]["hits"] == 1
    assert told["before"]["faults"] == {"short_text": {"too_long": 1}, "teaser": {}}
    assert told["trials"][0] == {
        "case": SHORT.name,
        "kind": "short_text",
        "thin": False,
        "run": 1,
        "before": {
            "usable": False,
            "faults": ["too_long"],
            "typed": ["number"],
            "hints": ["name"],
            "abstains": False,
            "outcome": None,
            "attempts": 1,
        },
        "after": {
            "usable": True,
            "faults": [],
            "typed": [],
            "hints": [],
            "abstains": False,
            "outcome": "passed",
            "attempts": 2,
        },
    }
