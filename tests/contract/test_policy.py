import pytest

from proxy.contract.policy import Match, Step, StepKind
from tests.fakes.policies import policy


def test_label_is_name_and_hash() -> None:
    assert policy().label == "production@0123456789ab"


@pytest.mark.parametrize(
    ("model", "endpoint", "covered"),
    [
        pytest.param("Qwen/Qwen3.6-35B", "chat", True, id="glob"),
        pytest.param("exact", "chat", True, id="second glob"),
        pytest.param("qwen/qwen3.6-35b", "chat", False, id="case counts"),
        pytest.param("xQwen/Qwen3.6-35B", "chat", False, id="whole name"),
        pytest.param("exact", "messages", False, id="other endpoint"),
    ],
)
def test_match_needs_model_and_endpoint(model: str, endpoint: str, covered: bool) -> None:
    match = Match(("Qwen/Qwen3.6-*", "exact"), ("chat", "responses"))

    assert match.covers(model, endpoint) is covered


def test_star_covers_a_request_without_a_model() -> None:
    assert Match(("*",), ("chat",)).covers("", "chat")


def test_steps_that_call_again_are_no_ends() -> None:
    assert {kind for kind in StepKind if not kind.is_end} == {
        StepKind.SAME,
        StepKind.VARY,
        StepKind.REASK,
        StepKind.ESCALATE,
    }


def test_step_reads_as_in_a_file() -> None:
    assert str(Step(StepKind.ESCALATE, "big")) == "escalate:big"
    assert str(Step(StepKind.REJECT)) == "reject"
