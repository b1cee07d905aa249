from typing import Any

import pytest
from pydantic import ValidationError

from proxy.contract.policy import Attempts, Match, Stream, StreamMode, Vary
from proxy.contract.policy_document import PolicyDocument
from proxy.contract.section import CheckFailed

SMALLEST: dict[str, Any] = {"format": 1, "name": "small", "gates": {}}


def test_defaults_are_those_of_the_format() -> None:
    document = PolicyDocument.model_validate(SMALLEST)

    assert document.mode == "enforce"
    assert document.record == "verdicts"
    assert document.match.value() == Match(("*",), ("chat", "completions", "responses", "messages"))
    assert document.attempts.value() == Attempts(
        max_attempts=3,
        deadline_seconds=120,
        max_extra_tokens=8192,
        cold=True,
        upstream_faults=True,
        vary=Vary(fresh_seed=True, min_temperature=0.3, thinking_off=True),
        deliver_best=False,
    )
    assert document.stream.value() == Stream(
        mode=StreamMode.AUTO,
        keepalive_after_seconds=20,
        keepalive_every_seconds=15,
        window_holdback_characters=64,
        reasoning_hold=True,
    )


def test_every_other_word_is_read() -> None:
    document = PolicyDocument.model_validate(
        SMALLEST
        | {
            "match": {"models": ["a", "b[0-9]"], "endpoints": ["chat"], "header": "small"},
            "attempts": {
                "max_attempts": 1,
                "deadline_seconds": 0.5,
                "max_extra_tokens": 0,
                "cold": "none",
                "upstream_faults": "none",
                "vary": {"seed": "keep", "min_temperature": None, "thinking": "keep"},
                "deliver": "best",
            },
            "stream": {"mode": "hold", "reasoning": "release", "keepalive_after_seconds": 0},
        }
    )

    assert document.match.value() == Match(("a", "b[0-9]"), ("chat",), "small")
    assert document.attempts.value() == Attempts(
        max_attempts=1,
        deadline_seconds=0.5,
        max_extra_tokens=0,
        cold=False,
        upstream_faults=False,
        vary=Vary(fresh_seed=False, min_temperature=None, thinking_off=False),
        deliver_best=True,
    )
    assert document.stream.value().mode is StreamMode.HOLD
    assert not document.stream.value().reasoning_hold
    assert document.stream.value().keepalive_after_seconds == 0


@pytest.mark.parametrize(
    ("glob", "message"),
    [
        pytest.param("", "is empty", id="empty"),
        pytest.param(" a", "spaces around", id="space"),
        pytest.param("a[bc", "bracket", id="open bracket"),
        pytest.param("{a,b}", "alternatives", id="braces"),
    ],
)
def test_bad_glob_is_refused_with_a_remedy(glob: str, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        PolicyDocument.model_validate(SMALLEST | {"match": {"models": [glob]}})

    failed = caught.value.errors()[0]["ctx"]["error"]
    assert isinstance(failed, CheckFailed)
    assert message in str(failed)
    assert failed.remedy
