import pytest

from proxy.errors import Fault
from proxy.gates.base import Repair, Repaired, Result, Verdict, sum_up


@pytest.mark.parametrize("repair", list(Repair))
def test_only_moving_the_document_clears_the_reasoning(repair: Repair) -> None:
    repaired = Repaired("{}", (repair,))

    assert repaired.clears_reasoning is (repair is Repair.JSON_FROM_REASONING)


PASSED = Verdict("test", Result.PASS)
ERROR = Verdict("test", Result.ERROR)
FAILED = Verdict("test", Result.FAIL, Fault.NOT_JSON)
SKIPPED = Verdict("test", Result.SKIP)


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        pytest.param([PASSED, ERROR, FAILED], FAILED, id="fail"),
        pytest.param([PASSED, ERROR, SKIPPED], ERROR, id="error"),
        pytest.param([SKIPPED, PASSED], PASSED, id="pass"),
        pytest.param([SKIPPED], SKIPPED, id="skip"),
        pytest.param([], SKIPPED, id="nothing"),
    ],
)
def test_worst_verdict_of_all_choices_decides(verdicts: list[Verdict], whole: Verdict) -> None:
    assert sum_up("test", verdicts) == whole


def test_pass_tells_the_repairs_and_gaps_of_all_choices() -> None:
    repaired = Repaired("{}", (Repair.UNWRAP_FENCE,))
    verdicts = [
        Verdict("test", Result.PASS, repaired={1: repaired}, unchecked=("b", "a")),
        Verdict("test", Result.PASS, repaired={0: repaired}, unchecked=("a", "c")),
    ]

    whole = sum_up("test", verdicts)

    assert whole.repaired == {0: repaired, 1: repaired}
    assert whole.unchecked == ("b", "a", "c")
