import pytest
from pydantic import ValidationError

from proxy.gates.evidence.judge_options import JudgeOptions


def test_lane_is_needed_and_the_time_has_a_default() -> None:
    assert JudgeOptions(lane="judge").time_limit_seconds == 4.0


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"lane": ""},
        {"lane": "judge", "time_limit_seconds": 0},
        {"lane": "judge", "time_limit_seconds": 61},
        {"lane": "judge", "model": "m"},
    ],
    ids=["no lane", "blank lane", "no time", "too much time", "unknown key"],
)
def test_wrong_options_are_refused(members: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        JudgeOptions.model_validate(members)
