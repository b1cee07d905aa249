from pathlib import Path

import pytest

from proxy import __version__
from proxy.cli import main

ROOT = Path(__file__).parents[1]
PRODUCTION = ROOT / "policies" / "production.yaml"


def test_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["version"]) == 0
    assert capsys.readouterr().out == f"sluicegate {__version__}\n"


def test_right_policy_is_named_with_its_hash_and_gates(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "check", str(PRODUCTION)]) == 0

    told = capsys.readouterr().out
    assert "right. production@" in told
    assert "strict_json" in told


def test_problems_of_all_policies_come_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / name for name in ("a.yaml", "b.yaml")]
    for file in files:
        file.write_text("format: 2\n")

    status = main(["policy", "check", *map(str, files), str(PRODUCTION)])

    told = capsys.readouterr()
    assert status == 2
    assert all(f"error: {file}" in told.err for file in files)
    assert "right." in told.out


def test_fixtures_that_hold_end_the_test_of_a_policy_well(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["policy", "test", str(PRODUCTION)]) == 0
    assert "fixtures hold. production@" in capsys.readouterr().out


def test_fixture_that_does_not_hold_ends_it_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bare.yaml").write_text("format: 1\nname: bare\ngates: {}\n")
    fixture = "{name: a, replies: [{content: Hi}], outcome: rejected}"
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "one.yaml").write_text(f"format: 1\nfixtures: [{fixture}]\n")
    arguments = ["policy", "test", str(tmp_path / "bare.yaml"), "--fixtures", str(folder)]

    assert main(arguments) == 1
    assert "outcome: expected rejected, got passed" in capsys.readouterr().out


def test_policy_without_fixtures_ends_it_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bare.yaml").write_text("format: 1\nname: bare\ngates: {}\n")

    assert main(["policy", "test", str(tmp_path / "bare.yaml")]) == 2
    assert "there are no fixtures" in capsys.readouterr().err


def test_policy_without_gates_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bare.yaml").write_text("format: 1\nname: bare\ngates: {}\n")

    assert main(["policy", "check", str(tmp_path / "bare.yaml")]) == 0
    assert "no gate" in capsys.readouterr().out


def test_new_key_is_shown_once_and_stored_as_a_hash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "keys.yaml"

    status = main(["keys", "add", "agent", "--file", str(file)])

    told = capsys.readouterr()
    assert status == 0
    assert told.out.strip() not in file.read_text()
    assert "only time" in told.err


def test_init_lays_out_and_says_what_comes_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(tmp_path)]) == 0
    assert f"serve --config {tmp_path / 'sluicegate.yaml'}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--config", "absent.yaml"], "absent.yaml"),
        (["--set", "limits.idle_seconds=soon"], "--set limits.idle_seconds"),
        (["--set", "nonsense"], "nonsense"),
        (["--upstream", "http://h", "--port", "high", "--observe"], "--port"),
    ],
    ids=["file", "value", "name", "flag"],
)
def test_wrong_settings_end_serve_with_2_and_their_place(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *arguments]) == 2

    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith("error: ") for line in lines)
    assert any(told in line for line in lines)


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["policy"], ["serve", "--nonsense"]])
def test_wrong_arguments_end_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert "usage: sluicegate" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", ["serve", "demo", "init", "policy", "keys", "ledger", "bench", "version"]
)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])

    assert ended.value.code == 0
    assert f"sluicegate {command}" in capsys.readouterr().out


def test_command_that_cannot_go_on_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--upstream", "http://127.0.0.1:1", "--port", "0", "--admin-port", "0", "--once"]

    assert main(["demo", *arguments]) == 2
    assert "error: http://127.0.0.1:1" in capsys.readouterr().err
