import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from proxy.contract.policy import Mode, Policy, Step, StepKind, StreamMode
from proxy.contract.policy_file import load_policies, load_policy
from proxy.data_files import policies_folder
from proxy.errors import PolicyError
from proxy.gates.registry import gate_kinds
from tests.fakes.span_gate import KINDS

TOP = "format: 1\nname: p\n"
GATES = "gates: {span: }\n"


def written(folder: Path, text: str, name: str = "p") -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def load(path: Path) -> Policy:
    return load_policy(path, KINDS, ["main"])


def complaints(path: Path) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        load(path)
    assert all(problem.remedy for problem in caught.value.problems)
    return [str(problem).replace(f"{path.parent}/", "") for problem in caught.value.problems]


def test_shipped_policy_is_read_and_holds_the_contract() -> None:
    path = policies_folder() / "production.yaml"

    policy = load_policy(path, gate_kinds(), ["main"])

    assert policy.mode is Mode.ENFORCE
    assert policy.attempts.max_attempts == 3
    assert policy.stream.mode is StreamMode.AUTO
    rules = {rule.gate.name: rule for rule in policy.rules}
    assert list(rules) == ["strict_json", "tool_calls", "length", "evidence", "abstain"]
    for name in ("strict_json", "tool_calls"):
        assert list(map(str, rules[name].ladder)) == ["vary", "reask", "reject"]
        assert rules[name].on_error == Step(StepKind.REJECT)
    for name in ("length", "evidence"):
        assert list(map(str, rules[name].ladder)) == ["reask", "flag"]
        assert rules[name].on_error == Step(StepKind.FLAG)
    assert [rule.mode for rule in rules.values()].count(Mode.OBSERVE) == 1
    assert rules["abstain"].mode is Mode.OBSERVE


def test_shipped_policies_keep_hints_from_rejecting_anything() -> None:
    for path in policies_folder().glob("*.yaml"):
        policy = load_policy(path, gate_kinds(), ["main"])
        hints = [rule.ladders["soft"] for rule in policy.rules if "soft" in rule.ladders]

        assert all(step.kind.delivers_reply for ladder in hints for step in ladder)


def test_every_shipped_policy_is_read() -> None:
    names = [path.stem for path in policies_folder().glob("*.yaml")]

    policies = load_policies(policies_folder(), names, names, gate_kinds(), ["main"])

    assert [policy.name for policy in policies.policies] == names


def test_label_is_the_start_of_the_hash_of_the_bytes(tmp_path: Path) -> None:
    path = written(tmp_path, TOP + GATES)

    policy = load(path)

    assert policy.label == f"p@{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"


def test_observing_policy_makes_observing_rules(tmp_path: Path) -> None:
    policy = load(written(tmp_path, TOP + "mode: observe\n" + GATES))

    assert policy.mode is Mode.OBSERVE
    assert [rule.mode for rule in policy.rules] == [Mode.OBSERVE]


def test_policy_without_gates_holds_nothing_back(tmp_path: Path) -> None:
    assert load(written(tmp_path, TOP + "gates: {}")).rules == ()


def test_parts_may_be_empty(tmp_path: Path) -> None:
    policy = load(written(tmp_path, TOP + "match:\nattempts:\n  vary:\nstream:\n" + GATES))

    assert policy.match.models == ("*",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "name: p\n" + GATES,
            "p.yaml:1:1: the key `format` is missing (add `format: ...`)",
            id="no format",
        ),
        pytest.param(
            "format: 2\nname: p\n" + GATES,
            "p.yaml:1:9: `format` is 2, but this version reads format 1 (write `format: 1`)",
            id="later format",
        ),
        pytest.param(
            "format: '1'\nname: p\n" + GATES,
            "p.yaml:1:9: `format` is '1', but this version reads format 1 (write `format: 1`)",
            id="quoted format",
        ),
        pytest.param(
            "format: true\nname: p\n" + GATES,
            "p.yaml:1:9: `format` is True, but this version reads format 1 (write `format: 1`)",
            id="truth for a format",
        ),
        pytest.param(
            "format: 1\nname: q\n" + GATES,
            "p.yaml:2:7: the name `q` is not the file's name `p`"
            " (write `name: p` or rename the file)",
            id="other name",
        ),
        pytest.param(
            TOP, "p.yaml:1:1: the key `gates` is missing (add `gates: ...`)", id="no gates"
        ),
        pytest.param(
            TOP + "gates: [span]",
            "p.yaml:3:8: `gates` must be a mapping of keys and values, not a list"
            " (write a mapping of keys and values)",
            id="gates are a list",
        ),
        pytest.param(
            TOP + "gates: {spam: }",
            "p.yaml:3:9: unknown gate `spam` (did you mean `span`?)",
            id="unknown gate",
        ),
        pytest.param(
            TOP + "shadow: next\n" + GATES,
            "p.yaml:3:1: `shadow` is not available in this version (remove it)",
            id="shadow",
        ),
        pytest.param(
            TOP + "rollout: {share: 5%}\n" + GATES,
            "p.yaml:3:1: `rollout` is not available in this version (remove it)",
            id="rollout",
        ),
        pytest.param(
            TOP + "review: {keep_days: 30}\n" + GATES,
            "p.yaml:3:10: `review.keep_days` is not available in this version (remove it)",
            id="days of a review",
        ),
        pytest.param(
            TOP + "record: bodies\n" + GATES,
            "p.yaml:3:9: `record` cannot be `bodies`: not available in this version"
            " (write `verdicts` instead)",
            id="record bodies",
        ),
        pytest.param(
            TOP + "mode: enforced\n" + GATES,
            "p.yaml:3:7: `mode` cannot be `enforced` (did you mean `enforce`?)",
            id="misspelt mode",
        ),
        pytest.param(
            TOP + "atempts: {}\n" + GATES,
            "p.yaml:3:1: unknown key `atempts` (did you mean `attempts`?)",
            id="unknown key",
        ),
        pytest.param(
            TOP + "attempts: {max_atempts: 3}\n" + GATES,
            "p.yaml:3:12: unknown key `attempts.max_atempts` (did you mean `max_attempts`?)",
            id="unknown key below",
        ),
        pytest.param(
            TOP + "attempts: {max_attempts: 0}\n" + GATES,
            "p.yaml:3:26: `attempts.max_attempts` is 0, but must be at least 1 (change the number)",
            id="no attempt",
        ),
        pytest.param(
            TOP + "attempts: {max_attempts: 11}\n" + GATES,
            "p.yaml:3:26: `attempts.max_attempts` is 11, but must be at most 10"
            " (change the number)",
            id="too many attempts",
        ),
        pytest.param(
            TOP + "attempts: {deadline_seconds: 0}\n" + GATES,
            "p.yaml:3:30: `attempts.deadline_seconds` is 0, but must be above 0.0"
            " (change the number)",
            id="no time",
        ),
        pytest.param(
            TOP + "attempts: {max_extra_tokens: -1}\n" + GATES,
            "p.yaml:3:30: `attempts.max_extra_tokens` is -1, but must be at least 0"
            " (change the number)",
            id="negative tokens",
        ),
        pytest.param(
            TOP + "attempts: {vary: {thinking: off}}\n" + GATES,
            "p.yaml:3:29: `attempts.vary.thinking` cannot be `False` (known: keep, off_if_unset)",
            id="thinking off",
        ),
        pytest.param(
            TOP + "stream: {mode: window}\n" + GATES,
            "p.yaml:3:16: `stream.mode` cannot be `window`: not available in this version"
            " (write `auto` instead)",
            id="window",
        ),
        pytest.param(
            TOP + "stream: {mode: hole}\n" + GATES,
            "p.yaml:3:16: `stream.mode` cannot be `hole` (did you mean `hold`?)",
            id="misspelt stream mode",
        ),
        pytest.param(
            TOP + "match: {models: []}\n" + GATES,
            "p.yaml:3:17: `match.models` must have at least 1 entry, not 0 (write at least 1)",
            id="no models",
        ),
        pytest.param(
            TOP + "match: {models: ['a[b']}\n" + GATES,
            "p.yaml:3:18: `match.models[0]` has a bracket without its partner: `a[b`"
            " (write `[abc]` or `*`)",
            id="bad glob",
        ),
        pytest.param(
            TOP + "match: {endpoints: [chats]}\n" + GATES,
            "p.yaml:3:21: `match.endpoints[0]` cannot be `chats` (did you mean `chat`?)",
            id="unknown endpoint",
        ),
        pytest.param(
            TOP + "match: {header: other}\n" + GATES,
            "p.yaml:3:17: `match.header` must be the policy's own name, not `other`"
            " (write `header: p`)",
            id="header of another name",
        ),
        pytest.param(
            TOP + GATES + "name: p",
            "p.yaml:4:1: the key `name` is written twice, first in line 2 (remove one of the two)",
            id="duplicate key",
        ),
        pytest.param(
            "- p",
            "p.yaml:1:1: the file must be a mapping of keys and values, not a list"
            " (write a mapping of keys and values)",
            id="list",
        ),
        pytest.param(
            "",
            "p.yaml:1:1: the file is empty (write keys and values, such as `key: value`)",
            id="empty file",
        ),
    ],
)
def test_mistake_has_place_and_remedy(tmp_path: Path, text: str, expected: str) -> None:
    assert complaints(written(tmp_path, text)) == [expected]


def test_name_that_is_no_plain_word_is_refused(tmp_path: Path) -> None:
    found = complaints(written(tmp_path, "format: 1\nname: P q\n" + GATES, "P q"))

    assert found == [
        "P q.yaml:2:7: `name` cannot be `P q` (use small letters, digits, `-` and `_`, at most 64)"
    ]


def test_all_problems_of_a_file_come_in_its_order(tmp_path: Path) -> None:
    text = (
        "format: 3\nname: q\nshadow: x\nmatch: {models: []}\n"
        "attempts: {max_attempts: 0, x: 1}\ngates: {spam: , span: {on_fail: [vary]}}\nname: q\n"
    )

    found = complaints(written(tmp_path, text))

    assert [line.split(": ")[0].removeprefix("p.yaml:") for line in found] == [
        "1:9",
        "2:7",
        "3:1",
        "4:17",
        "5:26",
        "5:29",
        "6:9",
        "6:34",
        "7:1",
    ]


def test_missing_file_is_a_problem(tmp_path: Path) -> None:
    assert complaints(tmp_path / "p.yaml") == ["p.yaml: there is no such file (check the path)"]


def folder_complaints(folder: Path, order: Sequence[str], by_header: Sequence[str]) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        load_policies(folder, order, by_header, KINDS, ["main"])
    return [str(problem).replace(f"{folder}", "DIR") for problem in caught.value.problems]


def test_policies_are_loaded_in_order(tmp_path: Path) -> None:
    for name in ("a", "b"):
        written(tmp_path, f"format: 1\nname: {name}\n{GATES}", name)

    policies = load_policies(tmp_path, ["b", "a"], ["a"], KINDS, ["main"])

    assert [policy.name for policy in policies.policies] == ["b", "a"]
    assert policies.choose("m", "chat", "a") is policies.policies[1]


def test_problems_of_all_files_come_together(tmp_path: Path) -> None:
    written(tmp_path, "format: 2\nname: a\n" + GATES, "a")
    written(tmp_path, "format: 1\nname: x\n" + GATES, "b")

    found = folder_complaints(tmp_path, ["a", "b", "c"], [])

    assert [line.split(": ")[0] for line in found] == ["DIR/a.yaml:1:9", "DIR/b.yaml:2:7", "DIR"]


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        pytest.param("produktion", "did you mean `production`?", id="close"),
        pytest.param("zzz", "write zzz.yaml", id="nothing close"),
    ],
)
def test_policy_without_a_file_tells_what_is_there(tmp_path: Path, name: str, remedy: str) -> None:
    written(tmp_path, "", "production")
    written(tmp_path, "", "other")

    assert folder_complaints(tmp_path, [name], []) == [
        f"DIR: there is no policy `{name}` in this folder; there are: other, production ({remedy})"
    ]


def test_empty_folder_says_so(tmp_path: Path) -> None:
    assert folder_complaints(tmp_path, ["p"], []) == [
        "DIR: there is no policy `p` in this folder, which has no policy at all (write p.yaml)"
    ]


def test_missing_folder_is_one_problem(tmp_path: Path) -> None:
    found = folder_complaints(tmp_path / "absent", ["a", "b"], [])

    assert found == ["DIR: there is no such folder (set `policies.folder`)"]


def test_policy_that_could_never_be_chosen_is_a_problem(tmp_path: Path) -> None:
    written(tmp_path, TOP + "match: {header: p}\n" + GATES)

    (found,) = folder_complaints(tmp_path, ["p"], [])

    assert found == (
        "DIR/p.yaml:3:17: `p` is chosen by header only, but no request may ask for it"
        " (add p to `policies.by_header`)"
    )
