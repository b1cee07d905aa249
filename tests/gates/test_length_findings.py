from typing import Any

import pytest

from proxy.errors import Fault
from proxy.gates.base import Result
from proxy.gates.length_findings import LengthFinding, finding_on, overrun, verdict_on
from proxy.gates.length_options import LengthTarget
from proxy.gates.text_targets import FoundText

FOUND = FoundText("choices[0].message.content#/teaser", "$.teaser", "...")


def _target(**members: Any) -> LengthTarget:
    return LengthTarget.model_validate({"of": "$.teaser", "unit": "graphemes", **members})


def _finding(count: int, *, blank: bool = False, **members: Any) -> LengthFinding:
    finding = finding_on(_target(**members), FOUND, count, blank=blank)
    assert finding is not None
    return finding


@pytest.mark.parametrize(
    ("finding", "fault", "told"),
    [
        (
            _finding(312, max=280),
            Fault.TOO_LONG,
            "$.teaser has 312 of at most 280 characters: shorten by 32.",
        ),
        (
            _finding(19, min=20, max=80, aim=[30, 60]),
            Fault.TOO_SHORT,
            "$.teaser has 19 of at least 20 characters: lengthen by 1 (aim for 30 to 60).",
        ),
        (
            _finding(2, unit="sentences", max=1),
            Fault.TOO_LONG,
            "$.teaser has 2 of at most 1 sentence: shorten by 1.",
        ),
        (
            _finding(0, blank=True, min=20, max=80),
            Fault.BLANK,
            "$.teaser is blank but needs at least 20 characters: write 20 to 80 characters.",
        ),
        (
            _finding(0, blank=True, min=1),
            Fault.BLANK,
            "$.teaser is blank but needs at least 1 character: write 1 character or more.",
        ),
        (
            _finding(9, unit="tokens", max=8),
            Fault.TOO_LONG,
            "$.teaser has 9 of at most 8 tokens: shorten by 1 (tokens are pieces of words).",
        ),
    ],
    ids=["long", "short", "one", "blank", "blank_open", "tokens"],
)
def test_feedback_states_count_limit_and_what_to_do(
    finding: LengthFinding, fault: Fault, told: str
) -> None:
    verdict = verdict_on([finding])

    assert (verdict.result, verdict.fault) == (Result.FAIL, fault)
    assert verdict.feedback.splitlines()[0] == told
    assert verdict.place == FOUND.place
    assert verdict.reason == f"{FOUND.place} {finding.complaint}."


@pytest.mark.parametrize("count", [20, 80])
def test_limits_themselves_are_kept(count: int) -> None:
    assert finding_on(_target(min=20, max=80), FOUND, count, blank=False) is None


def test_blank_text_that_needs_no_length_is_no_finding() -> None:
    assert finding_on(_target(max=80), FOUND, 0, blank=True) is None


def test_feedback_names_all_findings_up_to_a_number() -> None:
    verdict = verdict_on([_finding(312, max=280)] * 11)

    lines = verdict.feedback.splitlines()
    assert len(lines) == 10
    assert lines[8] == "So it is with 3 more."


def test_nothing_found_is_a_pass() -> None:
    assert verdict_on([]).result is Result.PASS


def test_running_text_is_told_without_a_count() -> None:
    finding = overrun(_target(of="text", max=9, aim=[3, 5]), "choices[0].message.content")

    verdict = verdict_on([finding])

    assert verdict.reason == "choices[0].message.content has more than 9 characters."
    told = "Your text has more than 9 characters: keep to at most 9 characters (aim for 3 to 5)."
    assert verdict.feedback.splitlines()[0] == told
