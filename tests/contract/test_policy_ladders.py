from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict

from proxy.contract.policy import Mode, Rule, Step, StepKind
from proxy.contract.policy_ladders import ladder_block, take_ladders
from proxy.contract.policy_rules import RuleReader
from proxy.contract.policy_schema import policy_schema
from proxy.gates.base import Gate, Result, Verdict
from proxy.gates.registry import ON_FAIL, GateKind, LadderKind
from proxy.yaml_places import parse_yaml
from tests.fakes.policies import FakeGate

HARD = LadderKind("hard", ("hard", "on_fail"), ("reask", "reject"))
HINT = LadderKind("hint", ("on_hint",), ("deliver",), hints_only=True)


class HardOptions(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    check: tuple[str, ...] = ()


class TwoOptions(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    hard: HardOptions = HardOptions()


def _build(_: Any) -> Gate:
    return FakeGate(name="two")


KINDS = {"two": GateKind("two", TwoOptions, _build, ladders=(HARD, HINT))}


def read(block: str) -> tuple[list[Rule], list[str]]:
    document = parse_yaml(f"gates:\n  two: {block}\n".encode(), "p.yaml")
    reader = RuleReader(KINDS, ["main"], document.places)
    rules = reader.read(document.data["gates"], Mode.ENFORCE)
    assert all(problem.remedy for problem in reader.problems)
    return rules, [str(problem) for problem in reader.problems]


def errors_of(block: str) -> list[str]:
    text = f"format: 1\nname: p\ngates:\n  two: {block}\n"
    document = parse_yaml(text.encode(), "p.yaml").data
    validator = Draft202012Validator(policy_schema(KINDS))
    return [error.message for error in validator.iter_errors(document)]


def verdict(ladder: str) -> Verdict:
    return Verdict("two", Result.FAIL, ladder=ladder)


@pytest.mark.parametrize(
    "block",
    [
        pytest.param("", id="nothing"),
        pytest.param("{hard: , on_error: flag}", id="an empty part"),
        pytest.param("{hard: {check: [a]}}", id="the part without its ladder"),
    ],
)
def test_ladders_have_defaults(block: str) -> None:
    (rule,), problems = read(block)

    assert problems == errors_of(block or "{}") == []
    assert rule.ladders == {
        "hard": (Step(StepKind.REASK), Step(StepKind.REJECT)),
        "hint": (Step(StepKind.DELIVER),),
    }


def test_verdict_is_followed_by_the_ladder_it_names_else_by_the_first() -> None:
    (rule,), problems = read("{hard: {on_fail: [same, reject]}, on_hint: [flag]}")

    assert problems == []
    assert rule.ladder_of(verdict("hint")) == (Step(StepKind.FLAG),)
    assert rule.ladder_of(verdict("hard")) == (Step(StepKind.SAME), Step(StepKind.REJECT))
    assert rule.ladder_of(verdict("")) == rule.ladder_of(verdict("hard")) == rule.ladder


def test_gate_whose_hints_are_delivered_does_not_always_keep_back() -> None:
    (rule,), _ = read("{}")

    assert not rule.always_keeps_back


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        pytest.param(
            "{on_fail: [reject]}",
            "2:9: unknown key `gates.two.on_fail`"
            " (known: fallback_text, hard, mode, on_error, on_hint, stream)",
            id="the key of other gates",
        ),
        pytest.param(
            "{hard: {on_fial: [reject]}}",
            "2:16: unknown key `gates.two.hard.on_fial` (did you mean `on_fail`?)",
            id="misspelt key inside",
        ),
        pytest.param(
            "{hard: {on_fail: [rejct]}}",
            "2:26: `gates.two.hard.on_fail[0]` cannot be `rejct` (did you mean `reject`?)",
            id="misspelt step inside",
        ),
        pytest.param(
            "{hard: {on_fail: [vary]}}",
            "2:26: the ladder stops at `vary`, which is no end"
            " (add `deliver`, `flag`, `park`, `fallback` or `reject` as the last step)",
            id="no end",
        ),
        pytest.param(
            "{hard: {on_fail: [fallback]}}",
            "2:26: `fallback` needs a text, but `gates.two` has none"
            ' (add `fallback_text: "..."` beside `hard`)',
            id="fallback without a text",
        ),
        pytest.param(
            "{on_hint: [reject]}",
            "2:19: `gates.two.on_hint[0]` cannot be `reject` (known: deliver, flag)",
            id="a hint that rejects",
        ),
        pytest.param(
            "{on_hint: [reask, flag]}",
            "2:19: `gates.two.on_hint[0]` cannot be `reask` (known: deliver, flag)",
            id="a hint that retries",
        ),
        pytest.param(
            "{on_hint: [judge, flag]}",
            "2:19: `gates.two.on_hint[0]` cannot be `judge` (known: deliver, flag)",
            id="a judge of a gate that has none",
        ),
        pytest.param(
            "{hard: 5}",
            "2:15: `gates.two.hard` must be a mapping of keys and values, not 5"
            " (write a mapping of keys and values)",
            id="no part",
        ),
    ],
)
def test_mistake_has_place_and_remedy_and_the_schema_refuses_it_too(
    block: str, expected: str
) -> None:
    _, problems = read(block)

    assert f"p.yaml:{expected}" in problems
    assert errors_of(block) or "the ladder stops" in expected


def test_fallback_with_a_text_suits_loader_and_schema() -> None:
    block = "{hard: {on_fail: [fallback]}, fallback_text: Sorry.}"

    assert (read(block)[1], errors_of(block)) == ([], [])


def test_taking_ladders_out_leaves_the_block_itself_alone() -> None:
    members = {"hard": {"on_fail": ["reject"], "check": []}, "x": 1}

    rest, (hard, hint) = take_ladders(members, [HARD, HINT])

    assert rest == {"hard": {"check": []}, "x": 1}
    assert members["hard"] == {"on_fail": ["reject"], "check": []}
    assert (hard.words, hint.is_written) == (["reject"], False)


def test_block_of_a_ladder_has_its_key_only() -> None:
    assert list(ladder_block(ON_FAIL).model_fields) == ["on_fail"]
