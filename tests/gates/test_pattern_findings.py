import pytest

from proxy.errors import Fault
from proxy.gates.base import Result, Verdict
from proxy.gates.pattern_findings import Found, short, verdict_on


def _found(remedy: str, fault: Fault = Fault.FORBIDDEN) -> Found:
    return Found(fault, "content", "So nicht.", remedy)


def test_nothing_found_is_a_pass() -> None:
    assert verdict_on([]) == Verdict("pattern", Result.PASS)


def test_first_finding_decides_and_all_are_corrected() -> None:
    verdict = verdict_on([_found("A."), _found("B.", Fault.PLACEHOLDER)])

    assert verdict == Verdict(
        "pattern",
        Result.FAIL,
        Fault.FORBIDDEN,
        "content: So nicht.",
        "content",
        "A. B. Write the whole answer again.",
    )


def test_correction_says_each_thing_once_and_at_most_five() -> None:
    verdict = verdict_on([_found(f"{number % 7}.") for number in range(30)])

    assert verdict.feedback == "0. 1. 2. 3. 4. Write the whole answer again."


@pytest.mark.parametrize(
    ("text", "told"), [("a\n  b", "a b"), ("x" * 60, "x" * 60), ("x" * 61, "x" * 60 + "...")]
)
def test_quotation_is_short_and_on_one_line(text: str, told: str) -> None:
    assert short(text) == told
