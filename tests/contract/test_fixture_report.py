import shutil
from itertools import islice
from pathlib import Path

import pytest

from proxy.contract.fixture_file import folder_of, read_fixtures
from proxy.contract.fixture_report import FixtureReport
from proxy.contract.policy_file import load_policy
from proxy.data_files import policies_folder
from proxy.errors import ConfigError, Fault
from proxy.gates.registry import gate_kinds

SHIPPED = sorted(policies_folder().glob("*.yaml"))
POLICY = "format: 1\nname: {name}\ngates: {{strict_json: }}\n"
FIXTURES = """\
format: 1
request: {response_format: {type: json_object}}
fixtures:
  - name: holds
    replies: [{json: {}, verdicts: {strict_json: pass}}]
    outcome: passed
  - name: does not
    replies: [{json: {}, verdicts: {strict_json: not_json}}]
    outcome: rejected
"""


def written(folder: Path, name: str, fixtures: str) -> Path:
    policy = folder / f"{name}.yaml"
    policy.write_text(POLICY.format(name=name))
    below = folder / "fixtures" / name
    below.mkdir(parents=True)
    (below / "strict_json.yaml").write_text(fixtures)
    return policy


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_fixtures_of_every_shipped_policy_hold(file: Path) -> None:
    report = FixtureReport()

    (line,) = report.lines([file])

    assert report.holds, line
    assert "fixtures hold" in line


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_every_gate_of_a_shipped_policy_has_fixtures_that_pass_and_that_fail(file: Path) -> None:
    gates = [rule.gate.name for rule in load_policy(file, gate_kinds(), ("main",)).rules]

    fixtures = read_fixtures(folder_of(file), gates)

    replies = [reply for fixture in fixtures for reply in fixture.replies]
    for gate in gates:
        words = {reply.verdicts[gate] for reply in replies if gate in reply.verdicts}
        assert "pass" in words, gate
        assert {*map(str, Fault)} & words, gate


def test_fixture_that_does_not_hold_is_told_with_its_place(tmp_path: Path) -> None:
    file = written(tmp_path, "p", FIXTURES)
    report = FixtureReport()

    lines = list(report.lines([file]))

    assert not report.holds
    assert lines[0].startswith(f"{file}: 1 of 2 fixtures do not hold. p@")
    assert lines[1] == f"  {tmp_path}/fixtures/p/strict_json.yaml:7:5: does not"
    assert lines[2:] == [
        "    reply 1, strict_json: expected not_json, got pass",
        "    outcome: expected rejected, got passed",
    ]


def test_other_folder_of_fixtures_may_be_named(tmp_path: Path) -> None:
    file = written(tmp_path, "p", FIXTURES.partition("  - name: does not")[0])
    shutil.move(tmp_path / "fixtures" / "p", tmp_path / "elsewhere")
    report = FixtureReport(tmp_path / "elsewhere")

    (line,) = report.lines([file])

    assert report.holds
    assert "its fixture holds" in line


def test_wrong_files_are_told_after_the_others_were_tested(tmp_path: Path) -> None:
    right = written(tmp_path, "right", FIXTURES)
    told = FixtureReport().lines([tmp_path / "wrong.yaml", right])

    assert next(told).startswith(f"{right}: ")
    list(islice(told, 3))
    with pytest.raises(ConfigError, match="there is no such file"):
        list(told)
