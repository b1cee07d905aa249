"""The systemd units: `systemd-analyze verify`, and that they start what exists."""

import configparser
import shlex
import subprocess
from pathlib import Path

import pytest

from proxy.cli import build_parser
from proxy.data_files import recipe_files, recipes_folder
from proxy.layout import lay_out
from proxy.settings import load_settings
from tests.deploy.shipped import DEPLOY
from tests.grafana.programs import needed

UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
PROGRAM = "/opt/sluicegate/bin/sluicegate"
GATE = DEPLOY / "systemd" / "sluicegate.service"
ENGINE = DEPLOY / "systemd" / "sluicegate-vllm@.service"


class _Unit(configparser.RawConfigParser):
    """Keys as they are spelled; of a repeated key the last line counts."""

    optionxform = staticmethod(str)  # type: ignore[assignment] # how RawConfigParser is told so


def service(path: Path) -> dict[str, str]:
    unit = _Unit(strict=False, delimiters=("=",), comment_prefixes=("#",), interpolation=None)
    unit.read(path, encoding="utf-8")
    return dict(unit["Service"])


def verified(text: str, name: str, folder: Path) -> str:
    """What systemd says of a unit, with a program that exists."""
    analyze = needed("systemd-analyze", "systemd")
    unit = folder / name
    unit.write_text(text.replace(PROGRAM, "/bin/true"), encoding="utf-8")
    done = subprocess.run(
        [analyze, "verify", "--man=no", str(unit)], check=False, capture_output=True, text=True
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_systemd_has_nothing_to_say(path: Path, tmp_path: Path) -> None:
    assert verified(path.read_text(encoding="utf-8"), path.name, tmp_path) == ""


def test_systemd_would_tell_of_a_mistake(tmp_path: Path) -> None:
    text = GATE.read_text(encoding="utf-8").replace("ProtectHome", "ProtectHoem")

    assert "ProtectHoem" in verified(text, GATE.name, tmp_path)


def test_gate_is_started_with_flags_that_exist() -> None:
    program, *arguments = shlex.split(service(GATE)["ExecStart"])

    options = build_parser().parse_args(arguments)

    assert program == PROGRAM
    assert options.config == Path("/etc/sluicegate/sluicegate.yaml")


@pytest.mark.parametrize("recipe", [path.stem for path in recipe_files(recipes_folder())])
def test_engine_is_started_with_flags_that_exist(recipe: str) -> None:
    _, *arguments = shlex.split(service(ENGINE)["ExecStart"].replace("%i", recipe))

    options = build_parser().parse_args(arguments)

    assert str(options.recipe) == recipe
    assert options.overrides == ["host=127.0.0.1"]


def test_settings_of_init_load_with_the_variables_of_the_unit(tmp_path: Path) -> None:
    for _ in lay_out(tmp_path):
        pass
    name, _, value = service(GATE)["Environment"].partition("=")

    settings = load_settings(tmp_path / "sluicegate.yaml", {name: value}, {})

    assert settings.ledger.url == "sqlite:////var/lib/sluicegate/sluicegate.db"


def test_gate_and_engine_write_the_same_ledger_in_the_state_folder_of_both() -> None:
    address = service(GATE)["Environment"].partition("=")[2]

    assert f"--ledger {address}" in service(ENGINE)["ExecStart"]
    assert address.startswith("sqlite:////var/lib/sluicegate/")
    for key in ("DynamicUser", "User", "StateDirectory"):
        assert service(GATE)[key] == service(ENGINE)[key]


def test_gate_has_more_time_to_stop_than_it_needs_to_drain(tmp_path: Path) -> None:
    for _ in lay_out(tmp_path):
        pass
    settings = load_settings(tmp_path / "sluicegate.yaml", {}, {})

    assert float(service(GATE)["TimeoutStopSec"]) > settings.drain_seconds
    assert service(GATE)["KillMode"] == "mixed"


def test_wrong_settings_are_not_tried_again() -> None:
    assert service(GATE)["RestartPreventExitStatus"].split() == ["2", "3"]
