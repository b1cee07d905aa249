from typing import Any

import pytest
from jsonschema import Draft202012Validator

from proxy.contract.policy import Mode, Rule, Step, StepKind
from proxy.contract.policy_judges import judge_lane
from proxy.contract.policy_ladders import take_ladders
from proxy.contract.policy_rules import RuleReader
from proxy.contract.policy_schema import policy_schema
from proxy.gates.registry import ON_FAIL, gate_kinds
from proxy.yaml_places import parse_yaml

NAMED = "sources: [{role: tool}], judge: {lane: big}"


def read(block: str, lanes: tuple[str, ...] | None = ("main", "big")) -> tuple[list[Rule], Any]:
    document = parse_yaml(f"gates:\n  evidence: {{{block}}}\n".encode(), "p.yaml")
    reader = RuleReader(gate_kinds(), lanes, document.places)
    rules = reader.read(document.data["gates"], Mode.ENFORCE)
    return rules, [str(problem) for problem in reader.problems]


def _fits_the_schema(block: str) -> bool:
    document = parse_yaml(
        f"format: 1\nname: p\ngates:\n  evidence: {{{block}}}\n".encode(), "p.yaml"
    )
    return Draft202012Validator(policy_schema(gate_kinds())).is_valid(document.data)


@pytest.mark.parametrize("end", [StepKind.FLAG, StepKind.DELIVER])
def test_ladder_begins_after_the_step_judge(end: StepKind) -> None:
    block = f"{NAMED}, soft: {{on_fail: [judge, {end}]}}"

    (rule,), problems = read(block)

    assert problems == []
    assert rule.ladders["soft"] == (Step(end),)
    assert rule.judge_lane == "big"
    assert rule.spec is not None
    assert '"judge":{"lane":"big","time_limit_seconds":4.0}' in rule.spec.options
    assert _fits_the_schema(block)


def test_gate_without_a_judge_names_no_lane() -> None:
    (rule,), problems = read("sources: [{role: tool}]")

    assert (rule.judge_lane, problems) == ("", [])


def test_lane_is_not_asked_for_where_the_settings_are_not_known() -> None:
    assert read(f"{NAMED}, soft: {{on_fail: [judge, flag]}}", None)[1] == []


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        pytest.param(
            "sources: [{role: tool}], judge: {lane: bgi}, soft: {on_fail: [judge, flag]}",
            "2:53: there is no lane `bgi` in the settings (did you mean `big`?)",
            id="missing lane",
        ),
        pytest.param(
            "sources: [{role: tool}], soft: {on_fail: [judge, flag]}",
            "2:56: `judge` asks a lane, but `gates.evidence` names none"
            " (add `judge: {lane: NAME}` beside `soft`)",
            id="step without a lane",
        ),
        pytest.param(
            "sources: [{role: tool}], judge: , soft: {on_fail: [judge, flag]}",
            "2:65: `judge` asks a lane, but `gates.evidence` names none"
            " (add `judge: {lane: NAME}` beside `soft`)",
            id="step beside nothing",
        ),
        pytest.param(
            f"{NAMED}, soft: {{on_fail: [flag]}}",
            "2:39: `gates.evidence.judge` is asked by no step"
            " (write `gates.evidence.soft.on_fail: [judge, flag]`, or remove it)",
            id="lane without a step",
        ),
        pytest.param(
            NAMED,
            "2:39: `gates.evidence.judge` is asked by no step"
            " (write `gates.evidence.soft.on_fail: [judge, flag]`, or remove it)",
            id="lane without a ladder",
        ),
        pytest.param(
            "sources: [{role: tool}], judge: {}, soft: {on_fail: [judge, flag]}",
            "2:39: the key `gates.evidence.judge.lane` is missing (add `lane: ...`)",
            id="block without a lane",
        ),
        pytest.param(
            "sources: [{role: tool}], judge: big, soft: {on_fail: [judge, flag]}",
            "2:46: `gates.evidence.judge` must be a mapping of keys and values, not text"
            " (write a mapping of keys and values)",
            id="no mapping",
        ),
        pytest.param(
            "sources: [{role: tool}], judge: {lane: big, time_limit_seconds: 0},"
            " soft: {on_fail: [judge, flag]}",
            "2:78: `gates.evidence.judge.time_limit_seconds` is 0, but must be above 0.0"
            " (change the number)",
            id="no time",
        ),
        pytest.param(
            f"{NAMED}, soft: {{on_fail: [judge]}}",
            "2:76: the ladder stops at `judge`, which is no end"
            " (add `flag` or `deliver` as the last step)",
            id="no end",
        ),
        pytest.param(
            f"{NAMED}, soft: {{on_fail: [flag, judge]}}",
            "2:76: `flag` ends the request, but a step follows it"
            " (move it to the end or remove what follows)",
            id="judge after the end",
        ),
        pytest.param(
            f"{NAMED}, soft: {{on_fail: [judge, judge, flag]}}",
            "2:75: `gates.evidence.soft.on_fail` must have at most 2 entries, not 3"
            " (write at most 2)",
            id="two judges",
        ),
        pytest.param(
            f"{NAMED}, soft: {{on_fail: [judge, reject]}}",
            "2:83: `gates.evidence.soft.on_fail[1]` cannot be `reject`"
            " (known: deliver, flag, judge)",
            id="rejected by a judge",
        ),
        pytest.param(
            f"{NAMED}, soft: {{on_fail: [judge, flag]}}, typed: {{on_fail: [judge, flag]}}",
            "2:109: `gates.evidence.typed.on_fail[0]` cannot be `judge`",
            id="judge of typed findings",
        ),
    ],
)
def test_mistake_has_place_and_remedy(block: str, expected: str) -> None:
    _, problems = read(block)

    assert any(problem.startswith(f"p.yaml:{expected}") for problem in problems), problems
    in_other_files = ("no lane `", "by no step")
    assert any(word in expected for word in in_other_files) or not _fits_the_schema(block)


def test_ladders_of_other_gates_name_no_lane() -> None:
    _, ladders = take_ladders({"judge": {"lane": "big"}}, [ON_FAIL])

    assert judge_lane({"judge": {"lane": "big"}}, ladders) == ""


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        pytest.param(
            "{file: nowhere.onnx, tokenizer: p.yaml}",
            "2:53: `gates.evidence.model.file` names no file: nowhere.onnx (check the path)",
            id="no file",
        ),
        pytest.param(
            "{file: nowhere.onnx}",
            "2:39: the key `gates.evidence.model.tokenizer` is missing (add `tokenizer: ...`)",
            id="no tokenizer",
        ),
        pytest.param(
            "{file: a, tokenizer: b, raise_below: 0.95}",
            "2:83: `gates.evidence.model.raise_below` is 0.95, but must be below `clear_above`"
            " (change one of the two)",
            id="thresholds",
        ),
    ],
)
def test_mistake_in_a_local_model_has_place_and_remedy(model: str, expected: str) -> None:
    _, problems = read(f"sources: [{{role: tool}}], model: {model}")

    assert problems == [f"p.yaml:{expected}"]
