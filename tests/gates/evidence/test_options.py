import pytest

from proxy.contract.policy import Mode, Rule, Step, StepKind
from proxy.contract.policy_rules import RuleReader
from proxy.gates.registry import gate_kinds
from proxy.yaml_places import parse_yaml


def read(block: str) -> tuple[list[Rule], list[str]]:
    document = parse_yaml(f"gates:\n  evidence: {block}\n".encode(), "p.yaml")
    reader = RuleReader(gate_kinds(()), ["main"], document.places)
    return reader.read(document.data["gates"], Mode.ENFORCE), [str(p) for p in reader.problems]


def test_block_has_two_ladders() -> None:
    (rule,), problems = read(
        "{sources: [{tag: quelle}], typed: {check: [number], on_fail: [reask, reject]},"
        " soft: {on_fail: [flag]}, languages: [de], rounding: free}"
    )

    assert problems == []
    assert rule.ladders["typed"] == (Step(StepKind.REASK), Step(StepKind.REJECT))
    assert rule.ladders["soft"] == (Step(StepKind.FLAG),)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        pytest.param("{}", "2:3: the key `gates.evidence.sources` is missing", id="no sources"),
        pytest.param("{sources: []}", "must have at least 1 entry, not 0", id="empty sources"),
        pytest.param(
            "{sources: [{tag: q}], languages: [fr]}",
            "`gates.evidence.languages[0]` cannot be `fr` (known: de, en)",
            id="language",
        ),
        pytest.param(
            "{sources: [{tag: q}], rounding: hegded}",
            "`gates.evidence.rounding` cannot be `hegded` (did you mean `hedged`?)",
            id="rounding",
        ),
        pytest.param(
            "{sources: [{tag: q}], typed: {check: [name]}}",
            "`gates.evidence.typed.check[0]` cannot be `name`",
            id="soft kind among the typed",
        ),
        pytest.param(
            "{sources: [{tag: q}], soft: {on_fail: [reject]}}",
            "`gates.evidence.soft.on_fail[0]` cannot be `reject`",
            id="hint that rejects",
        ),
        pytest.param(
            "{sources: [{tag: q}], on_fail: [reject]}",
            "unknown key `gates.evidence.on_fail`",
            id="the ladder of other gates",
        ),
    ],
)
def test_mistake_is_told(block: str, expected: str) -> None:
    _, problems = read(block)

    assert any(expected in problem for problem in problems), problems
