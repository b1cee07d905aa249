import json

import pytest

from proxy.contract.policy import Mode, Rule, Step, StepKind
from proxy.contract.policy_rules import RuleReader
from proxy.gates.registry import GateKind
from proxy.yaml_places import parse_yaml
from tests.fakes.span_gate import KINDS, SpanOptions, build_span


def read(gates: str, mode: Mode = Mode.ENFORCE) -> tuple[list[Rule], list[str]]:
    document = parse_yaml(f"gates:\n  {gates}\n".encode(), "p.yaml")
    reader = RuleReader(KINDS, ["main", "big"], document.places)
    rules = reader.read(document.data["gates"], mode)
    assert all(problem.remedy for problem in reader.problems)
    return rules, [str(problem) for problem in reader.problems]


def test_block_becomes_a_rule_with_its_ladder() -> None:
    (rule,), problems = read("span: {min: 1, on_fail: [same, deliver], on_error: deliver}")

    assert problems == []
    assert rule.gate.name == "span"
    assert rule.ladder == (Step(StepKind.SAME), Step(StepKind.DELIVER))
    assert rule.on_error == Step(StepKind.DELIVER)
    assert rule.mode is Mode.ENFORCE


def test_ladder_may_end_in_a_flag_or_a_fallback() -> None:
    plain, span = read(
        "{span: {on_fail: [same, flag], on_error: flag},"
        " plain: {on_fail: [fallback], fallback_text: Sorry.}}"
    )[0]

    assert span.ladder[-1] == span.on_error == Step(StepKind.FLAG)
    assert plain.ladder == (Step(StepKind.FALLBACK),)
    assert (plain.fallback_text, span.fallback_text) == ("Sorry.", "")


def test_ladder_may_end_in_a_review() -> None:
    (rule,), problems = read("span: {on_fail: [reask, park], on_error: park}")

    assert problems == []
    assert rule.ladder[-1] == rule.on_error == Step(StepKind.PARK)
    assert not rule.always_keeps_back


def test_text_that_no_ladder_uses_is_allowed() -> None:
    assert read("span: {fallback_text: Sorry.}")[1] == []


def test_empty_block_has_all_defaults() -> None:
    (rule,), problems = read("span:")

    assert problems == []
    assert rule.ladder == (Step(StepKind.VARY), Step(StepKind.REASK), Step(StepKind.REJECT))
    assert rule.on_error == Step(StepKind.REJECT)


@pytest.mark.parametrize(
    ("block", "policy_mode", "mode"),
    [
        pytest.param("{}", Mode.OBSERVE, Mode.OBSERVE, id="the policy's"),
        pytest.param("{mode: observe}", Mode.ENFORCE, Mode.OBSERVE, id="its own"),
    ],
)
def test_gate_has_a_mode(block: str, policy_mode: Mode, mode: Mode) -> None:
    (rule,), _ = read(f"span: {block}", policy_mode)

    assert rule.mode is mode


@pytest.mark.parametrize(
    ("gates", "words"),
    [
        pytest.param("{plain: {words: [a]}, debtor: {max: 3}}", "a", id="borrowed"),
        pytest.param("{plain: {words: [a]}, debtor: }", "a", id="borrowed by an empty block"),
        pytest.param("{plain: {words: [a]}, debtor: {words: [b]}}", "b", id="its own"),
        pytest.param("{plain: {max: 3}, debtor: {max: 3}}", "", id="not lent"),
        pytest.param("{debtor: {max: 3}}", "", id="no lender"),
    ],
)
def test_options_may_be_those_of_another_gate(gates: str, words: str) -> None:
    debtor = GateKind("debtor", SpanOptions, build_span, borrows={"words": "plain"})
    document = parse_yaml(f"gates:\n  {gates}\n".encode(), "p.yaml")
    reader = RuleReader({**KINDS, "debtor": debtor}, [], document.places)

    rules = reader.read(document.data["gates"], Mode.ENFORCE)

    assert reader.problems == []
    assert rules[-1].spec is not None
    assert json.loads(rules[-1].spec.options)["words"] == list(words)


def test_rules_come_in_the_order_in_which_gates_judge() -> None:
    rules, _ = read("{span: , plain: }")

    assert [rule.gate.name for rule in rules] == ["plain", "span"]


@pytest.mark.parametrize(
    ("gates", "expected"),
    [
        pytest.param(
            "spam: {}", "2:3: unknown gate `spam` (did you mean `span`?)", id="unknown gate"
        ),
        pytest.param(
            "span: on",
            "2:9: `gates.span` must hold the gate's options (write keys and values, or nothing)",
            id="no options",
        ),
        pytest.param(
            "span: {mni: 1}",
            "2:10: unknown key `gates.span.mni` (did you mean `min`?)",
            id="unknown option",
        ),
        pytest.param(
            "span: {on_fial: [reject]}",
            "2:10: unknown key `gates.span.on_fial` (did you mean `on_fail`?)",
            id="unknown key of a rule",
        ),
        pytest.param(
            "span: {min: few}",
            "2:15: `gates.span.min` must be a whole number, not text (write a whole number)",
            id="wrong option",
        ),
        pytest.param(
            "span: {min: 5, max: 3}",
            "2:9: `gates.span` is wrong: min is over max (change the value)",
            id="min over max",
        ),
        pytest.param(
            "span: {words: [unbuildable]}",
            "2:3: the gate `span` cannot be built: no such word (change its options)",
            id="gate that cannot be built",
        ),
        pytest.param(
            "span: {on_fail: []}",
            "2:19: `gates.span.on_fail` must have at least 1 entry, not 0 (write at least 1)",
            id="empty ladder",
        ),
        pytest.param(
            "span: {on_fail: reject}",
            "2:19: `gates.span.on_fail` must be a list, not text (write [reject])",
            id="ladder is no list",
        ),
        pytest.param(
            "span: {on_fail: [vary, rejct]}",
            "2:26: `gates.span.on_fail[1]` cannot be `rejct` (did you mean `reject`?)",
            id="misspelt step",
        ),
        pytest.param(
            "span: {on_fail: [vary, reask]}",
            "2:26: the ladder stops at `reask`, which is no end"
            " (add `deliver`, `flag`, `park`, `fallback` or `reject` as the last step)",
            id="no end",
        ),
        pytest.param(
            "span: {on_fail: [reject, vary, deliver]}",
            "2:20: `reject` ends the request, but a step follows it"
            " (move it to the end or remove what follows)",
            id="end before the end",
        ),
        pytest.param(
            "span: {on_fail: [same, fallback]}",
            "2:26: `fallback` needs a text, but `gates.span` has none"
            ' (add `fallback_text: "..."` beside `on_fail`)',
            id="fallback without a text",
        ),
        pytest.param(
            'span: {on_fail: [fallback], fallback_text: " "}',
            "2:20: `fallback` needs a text, but `gates.span` has none"
            ' (add `fallback_text: "..."` beside `on_fail`)',
            id="fallback with a blank text",
        ),
        pytest.param(
            "span: {on_fail: [fallback], fallback_text: }",
            "2:46: `gates.span.fallback_text` must be text, not nothing (write text)",
            id="fallback with nothing",
        ),
        pytest.param(
            "span: {on_fail: [fallback, reject], fallback_text: Sorry.}",
            "2:20: `fallback` ends the request, but a step follows it"
            " (move it to the end or remove what follows)",
            id="fallback before the end",
        ),
        pytest.param(
            "span: {on_fail: [judge, deliver]}",
            "2:20: `gates.span.on_fail[0]` cannot be `judge`"
            " (known: deliver, fallback, flag, park, reask, reject, same, vary)",
            id="judge",
        ),
        pytest.param(
            "span: {on_fail: ['escalate:big', reject]}",
            "2:20: `gates.span.on_fail[0]` cannot be `escalate:big`: not available in this version"
            " (write `reask` instead)",
            id="escalate",
        ),
        pytest.param(
            "span: {on_error: vary}",
            "2:20: `gates.span.on_error` cannot be `vary` (known: deliver, flag, park, reject)",
            id="no end on error",
        ),
        pytest.param(
            "span: {on_error: fallback, fallback_text: Sorry.}",
            "2:20: `gates.span.on_error` cannot be `fallback` (known: deliver, flag, park, reject)",
            id="fallback on error",
        ),
        pytest.param(
            "span: {mode: watch}",
            "2:16: `gates.span.mode` cannot be `watch` (known: enforce, observe)",
            id="unknown mode",
        ),
        pytest.param(
            "span: {stream: window}",
            "2:18: the gate `span` judges whole replies and cannot let text flow"
            " (write `stream: hold`)",
            id="window",
        ),
    ],
)
def test_mistake_has_place_and_remedy(gates: str, expected: str) -> None:
    _, problems = read(gates)

    assert problems == [f"p.yaml:{expected}"]


def test_lane_that_does_not_exist_is_told_along() -> None:
    _, problems = read("span: {on_fail: ['escalate:bgi', reject]}")

    assert "p.yaml:2:20: there is no lane `bgi` in the settings (did you mean `big`?)" in problems


def test_every_block_is_read_to_its_end() -> None:
    _, problems = read("{span: {mni: 1, on_fail: [vary], mode: x}, plain: 5, spam: {}}")

    assert len(problems) == 5
