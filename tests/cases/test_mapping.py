"""The neutral policy of a case in a policy file and settings of ours."""

from typing import Any

import pytest
import yaml

from proxy.contract.policy_file import load_policy
from proxy.gates.registry import gate_kinds
from tests.cases.mapping import Skip, set_up


def _policy(**neutral: Any) -> Any:
    return yaml.safe_load(set_up(neutral, gate_kinds()).policy)


def test_silence_means_one_call_and_strict_json() -> None:
    policy = _policy()

    assert policy["attempts"]["max_attempts"] == 1
    assert policy["gates"] == {"strict_json": {"on_fail": ["reject"]}}
    assert policy["stream"] == {"mode": "auto"}


def test_cold_retry_is_the_cold_step_and_nothing_else() -> None:
    policy = _policy(retry={"max": 1, "when": "cold"})

    assert policy["attempts"]["cold"] == "same"
    assert policy["attempts"]["max_attempts"] == 2
    assert policy["gates"]["strict_json"]["on_fail"] == ["reject"]


@pytest.mark.parametrize(
    ("retry", "ladder"),
    [
        ({"max": 0}, ["reject"]),
        ({"max": 2}, ["vary", "vary", "reject"]),
        ({"max": 2, "when": "any", "feedback": True}, ["reask", "reask", "reject"]),
        ({"max": 1, "vary": ["feedback", "seed"]}, ["reask", "reject"]),
        (
            {"max": 3, "vary": ["seed", "temperature", "feedback"]},
            ["vary", "reask", "reask", "reject"],
        ),
    ],
    ids=["none", "unnamed", "feedback", "more_ways_than_retries", "fewer_ways_than_retries"],
)
def test_retries_at_any_time_are_a_ladder(retry: dict[str, Any], ladder: list[str]) -> None:
    policy = _policy(retry=retry)

    assert policy["gates"]["strict_json"]["on_fail"] == ladder
    assert policy["attempts"]["cold"] == "none"


def test_repairs_are_renamed() -> None:
    policy = _policy(json={"repair": ["strip_outer_fence"], "rescue_from_reasoning": True})

    repairs = policy["gates"]["strict_json"]["repair"]
    assert repairs == ["unwrap_fence", "json_from_reasoning"]


def test_tools_are_the_gate_of_tool_calls() -> None:
    tools = {"validate": True, "empty_args": "normalise", "coerce": ["json_string"]}

    options = _policy(tools=tools)["gates"]["tool_calls"]

    assert options["repair"] == ["empty_arguments"]
    assert options["coerce"] == ["json_string"]


def test_lengths_are_targets_of_the_gate() -> None:
    limits = [
        {"path": "$content", "unit": "words", "min": 6, "max": 12},
        {"path": "$.tags[*]", "unit": "graphemes", "max": 12},
    ]

    policy = _policy(length=limits, retry={"max": 1, "vary": ["feedback"]})

    assert policy["gates"]["length"] == {
        "targets": [
            {"of": "text", "unit": "words", "min": 6, "max": 12},
            {"of": "$.tags[*]", "unit": "graphemes", "max": 12},
        ],
        "on_fail": ["reask", "reject"],
    }


def test_thin_sources_are_the_gate_of_abstentions() -> None:
    wanted = {"source_tag": "source", "locale": "de", "min_source_words": 8}

    policy = _policy(evidence={**wanted, "on_thin": "abstain", "abstain_text": "Zu wenig."})

    assert policy["gates"]["abstain"] == {
        "sources": [{"tag": "source"}],
        "thin": {"always_below": 8, "below": 8},
        "fallback_text": "Zu wenig.",
        "on_overconfident": ["fallback"],
    }


def test_details_that_are_to_be_checked_are_the_typed_ones_of_evidence() -> None:
    wanted = {"source_tag": "source", "source_locale": "en", "check": ["numbers", "dates"]}

    policy = _policy(evidence=wanted, retry={"max": 1, "feedback": True})

    assert policy["gates"]["evidence"] == {
        "sources": [{"tag": "source"}],
        "typed": {"check": ["number", "date"], "on_fail": ["reask", "reject"]},
        "soft": {"check": []},
    }


def test_settings_carry_what_is_no_matter_of_a_policy() -> None:
    neutral = {
        "limits": {"body_max_bytes": 1024, "schema_max_depth": 3},
        "timeouts": {"read_s": 1},
        "pool": {"max": 10},
        "metrics": {"inject_usage": False},
        "workers": 1,
        "ready_wait_s": 7,
        "probe": {"valid": 2},
    }

    setup = set_up(neutral, ())

    assert setup.settings["limits.request_bytes"] == 1024
    assert setup.settings["limits.reply_seconds"] == 1
    assert setup.settings["admission.concurrent"] == 10
    assert setup.settings["usage"] == "leave"
    assert setup.settings["lanes.main.ready_wait_seconds"] == 7
    assert setup.settings["lanes.main.probe"] == {"valid": 2}
    assert len(setup.notes) == 1


@pytest.mark.parametrize(
    ("neutral", "reason"),
    [
        ({"weather": "fine"}, "`weather` has no counterpart"),
        ({"json": {"tidy": True}}, r"`json\.tidy` has no counterpart"),
        ({"json": {"repair": ["guess"]}}, r"`json\.repair: guess` has no counterpart"),
        ({"retry": {"max": 1, "when": "monday"}}, "monday"),
        ({"stream": {"mode": "sideways"}}, "sideways"),
        ({"tools": {"validate": True}}, "no gate tool_calls in this version"),
        ({"length": [{"path": "$.a", "unit": "words", "share": 1}]}, r"`length\.share` has no"),
        (
            {"evidence": {"source_tag": "q", "check": ["taste"]}},
            r"`evidence\.check: taste` has no counterpart",
        ),
        ({"workers": 2}, "one process"),
        ({"probe": {"weather": "fine"}}, r"`probe\.weather` has no counterpart"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_what_has_no_counterpart_is_skipped_with_its_reason(
    neutral: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Skip, match=reason):
        set_up(neutral, ())


def test_mapped_policy_is_one_that_the_proxy_loads(tmp_path: Any) -> None:
    neutral = {
        "json": {"strict": True, "repair": ["strip_outer_fence"], "max_whitespace_run": 9},
        "tools": {"validate": True, "coerce": ["json_string"], "history": "reject"},
        "retry": {"max": 2, "when": "any", "vary": ["feedback", "temperature"]},
        "stream": {"mode": "hold"},
        "models": ["tiny"],
        "on_fail": "error",
    }
    file = tmp_path / "case.yaml"
    file.write_text(set_up(neutral, gate_kinds()).policy, encoding="utf-8")

    policy = load_policy(file, gate_kinds(), ["main"])

    assert [str(step) for step in policy.rules[0].ladder] == ["reask", "vary", "reject"]
    assert policy.match.models == ("tiny",)
