from contextlib import chdir
from pathlib import Path

import pytest

from proxy.errors import SettingsError
from proxy.ledger.address import Backend
from proxy.ledger_settings import Ledger, chosen_ledger
from proxy.settings import Settings, load_settings

LANE = 'lanes: {main: {url: "http://127.0.0.1:8000"}}\n'
OFF = "ledger: {url: null}\n"


def written(folder: Path, text: str = "") -> Path:
    path = folder / "sluicegate.yaml"
    path.write_text(LANE + text, encoding="utf-8")
    return path


def url_of(folder: Path, text: str = "", **more: str) -> str | None:
    """The URL as `serve` takes it from a file, and variables by their name after the prefix."""
    environ = {f"SLUICEGATE_{name}": value for name, value in more.items()}
    return load_settings(written(folder, text), environ, {}).ledger.url


def test_ledger_stands_beside_the_settings_file_by_default(tmp_path: Path) -> None:
    assert url_of(tmp_path) == f"sqlite:///{tmp_path}/sluicegate.db"
    assert url_of(tmp_path, "ledger:\n") == f"sqlite:///{tmp_path}/sluicegate.db"


def test_without_a_settings_file_it_stands_in_the_working_directory(tmp_path: Path) -> None:
    with chdir(tmp_path):
        settings = load_settings(None, {}, {"lanes.main.url": "http://h"})

    assert settings.ledger.url == f"sqlite:///{tmp_path}/sluicegate.db"


def test_relative_file_starts_from_where_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()

    with chdir(tmp_path / "elsewhere"):
        in_file = url_of(tmp_path, 'ledger: {url: "sqlite:///data/x.db"}\n')
        in_variable = url_of(tmp_path, LEDGER__URL="sqlite:///y.db")

    assert in_file == f"sqlite:///{tmp_path}/data/x.db"
    assert in_variable == f"sqlite:///{tmp_path}/elsewhere/y.db"


@pytest.mark.parametrize("word", ["none", "None", "null", "~"])
def test_ledger_is_switched_off_by_a_word(tmp_path: Path, word: str) -> None:
    assert url_of(tmp_path, f"ledger: {{url: {word}}}\n") is None
    assert url_of(tmp_path, LEDGER__URL=word) is None
    flags = {"ledger.url": word}
    assert load_settings(written(tmp_path), {}, flags).ledger.address is None


def test_variable_switches_on_what_the_file_switched_off(tmp_path: Path) -> None:
    assert url_of(tmp_path, OFF, LEDGER__URL="sqlite:////x.db") == "sqlite:////x.db"


def test_wrong_url_has_place_and_remedy_and_hides_the_password(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        url_of(tmp_path, 'ledger: {url: "mysql://me:s3cret@h/x"}\n')

    (problem,) = caught.value.problems
    assert str(problem).startswith(f"{tmp_path}/sluicegate.yaml:2:15: `ledger.url` names `mysql`")
    assert "s3cret" not in str(problem)


def test_password_is_not_in_the_settings_as_text() -> None:
    settings = Settings(ledger=Ledger(url="postgresql://me:s3cret@h/x"))

    assert "s3cret" not in repr(settings)
    assert "s3cret" not in repr(settings.ledger.address)


def test_command_finds_the_ledger_of_serve(tmp_path: Path) -> None:
    file = written(tmp_path, 'ledger: {url: "sqlite:///x.db"}\n')

    assert chosen_ledger(file, None, {}).file == tmp_path / "x.db"
    with chdir(tmp_path):
        assert chosen_ledger(None, None, {}).file == tmp_path / "x.db"
        environ = {"SLUICEGATE_LEDGER__URL": "sqlite:///y.db"}
        assert chosen_ledger(None, None, environ).file == tmp_path / "y.db"
        assert chosen_ledger(None, "sqlite:///z.db", environ).file == tmp_path / "z.db"


def test_command_needs_no_other_settings(tmp_path: Path) -> None:
    file = tmp_path / "sluicegate.yaml"
    file.write_text("nonsense: 1\nlanes: {}\nkeys: {file: missing}\n")

    assert chosen_ledger(file, None, {"SLUICEGATE_X": "1"}).file == tmp_path / "sluicegate.db"
    with chdir(tmp_path / ".."):
        assert chosen_ledger(None, "postgresql://h/x", {}).backend is Backend.POSTGRESQL


@pytest.mark.parametrize(
    ("text", "url", "told"),
    [
        (OFF, None, "sluicegate.yaml:2:15: the ledger is switched off here (name one with --url"),
        ("", "none", "flag --url: the ledger is switched off here"),
        ("", "x.db", "flag --url: `ledger.url` is no URL"),
        ("ledger: {ulr: x}\n", None, "unknown key `ledger.ulr` (did you mean `url`?)"),
        ("ledger: {url: [\n", None, "sluicegate.yaml:"),
    ],
    ids=["off", "off by flag", "no url", "misspelt", "no yaml"],
)
def test_command_without_a_ledger_says_why(
    tmp_path: Path, text: str, url: str | None, told: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        chosen_ledger(written(tmp_path, text), url, {})

    assert told in str(caught.value)


def test_settings_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no such file"):
        chosen_ledger(tmp_path / "absent.yaml", None, {})
