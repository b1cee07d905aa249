import json
from pathlib import Path
from typing import Any

import pytest

from proxy.contract.fixture_file import Fixture, FixtureError, folder_of, read_fixtures

GATES = ["strict_json", "length"]
ONE = """\
format: 1
request: {model: tiny, temperature: 0}
fixtures:
  - name: a
    request: {temperature: 1, messages: [{role: user, content: Hi}]}
    replies:
      - {json: {a: 1}, verdicts: {strict_json: pass}}
    outcome: passed
"""


def read(folder: Path, text: str, name: str = "f.yaml") -> list[Fixture]:
    (folder / name).write_text(text, encoding="utf-8")
    return read_fixtures(folder, GATES)


def complaint(folder: Path, text: str) -> str:
    with pytest.raises(FixtureError) as caught:
        read(folder, text)
    (problem,) = caught.value.problems
    assert problem.remedy
    return str(problem).replace(f"{folder}/", "")


def fixture(reply: str, outcome: str = "passed") -> str:
    return f"format: 1\nfixtures:\n  - name: a\n    replies: [{reply}]\n    outcome: {outcome}\n"


def message(text: str, folder: Path) -> Any:
    (found,) = read(folder, fixture(text))
    return json.loads(found.replies[0].body)["choices"][0]


def test_fixtures_of_a_policy_stand_beside_it() -> None:
    assert folder_of(Path("policies/mine.yaml")) == Path("policies/fixtures/mine")


def test_members_of_a_request_go_before_those_of_the_file(tmp_path: Path) -> None:
    (found,) = read(tmp_path, ONE)

    request = json.loads(found.request)
    assert request["temperature"] == 1
    assert request["model"] == "tiny"
    assert request["messages"] == [{"role": "user", "content": "Hi"}]


def test_fixture_knows_its_place(tmp_path: Path) -> None:
    (found,) = read(tmp_path, ONE)

    assert str(found.place) == f"{tmp_path}/f.yaml:4:5"


def test_json_becomes_the_content(tmp_path: Path) -> None:
    assert message('{json: {a: "ä"}}', tmp_path)["message"]["content"] == '{"a": "ä"}'


def test_reply_is_a_chat_completion(tmp_path: Path) -> None:
    choice = message('{content: "Hi.", reasoning: Hm}', tmp_path)

    assert choice["message"] == {
        "role": "assistant",
        "content": "Hi.",
        "tool_calls": [],
        "reasoning": "Hm",
    }
    assert choice["finish_reason"] == "stop"


def test_calls_of_tools_end_as_such(tmp_path: Path) -> None:
    call = "{id: c, type: function, function: {name: f, arguments: '{}'}}"

    assert message(f"{{tool_calls: [{call}]}}", tmp_path)["finish_reason"] == "tool_calls"


def test_files_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    read(tmp_path, ONE, "b.yaml")

    found = read(tmp_path, fixture("{content: x}").replace("name: a", "name: first"), "a.yaml")

    assert [one.name for one in found] == ["first", "a"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (fixture("{contents: x}"), "unknown key `fixtures[0].replies[0].contents`"),
        (fixture("{content: x, json: {}}"), "`content` and `json`"),
        (fixture("{content: x, verdicts: {length: to_long}}"), "did you mean `too_long`?"),
        (fixture("{content: x, verdicts: {lenght: pass}}"), "did you mean `length`?"),
        (fixture("{content: x}", "delivered"), "cannot be `delivered`"),
        (fixture(""), "must have a reply"),
        ("format: 2\nfixtures: [{name: a, outcome: refused}]\n", "cannot be `2`"),
        ("format: 1\nfixtures: []\n", "at least 1 entry"),
        ("format: 1\n", "the key `fixtures` is missing"),
        ("format: [\n", "not YAML"),
        (ONE.replace("temperature: 1", "stream: true"), "cannot stream"),
    ],
    ids=[
        "key",
        "two contents",
        "fault",
        "gate",
        "outcome",
        "no reply",
        "format",
        "empty",
        "no fixtures",
        "no YAML",
        "stream",
    ],
)
def test_mistake_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    said = complaint(tmp_path, text)

    assert said.startswith("f.yaml:")
    assert told in said


def test_folder_without_fixtures_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(FixtureError, match="there are no fixtures"):
        read_fixtures(tmp_path / "none", GATES)


def test_mistakes_of_all_files_come_together(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("format: 1\n")

    with pytest.raises(FixtureError) as caught:
        read_fixtures(tmp_path, GATES)

    assert len(caught.value.problems) == 2


def test_refused_request_needs_no_reply(tmp_path: Path) -> None:
    (found,) = read(tmp_path, fixture("", "refused"))

    assert found.replies == ()
