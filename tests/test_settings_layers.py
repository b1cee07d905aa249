from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path

import pytest

from proxy.errors import SettingsError
from proxy.settings import load_settings

MIB = 1024 * 1024
MAIN = 'lanes: {main: {url: "http://127.0.0.1:8000"}}\n'
URL = {"SLUICEGATE_LANES__MAIN__URL": "http://127.0.0.1:8000"}


def written(folder: Path, text: str) -> Path:
    path = folder / "sluicegate.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def complaints(folder: Path, text: str, environ: Mapping[str, str]) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load_settings(written(folder, text), environ, {})
    return [str(problem) for problem in caught.value.problems]


def test_environment_wins_over_file_and_flags_win_over_both(tmp_path: Path) -> None:
    file = written(tmp_path, MAIN + "listen: {port: 1}\nadmin: {port: 1}\ndrain_seconds: 1\n")
    environ = {"SLUICEGATE_LISTEN__PORT": "2", "SLUICEGATE_ADMIN__PORT": "2"}

    settings = load_settings(file, environ, {"admin.port": 3})

    assert settings.drain_seconds == 1
    assert settings.listen.port == 2
    assert settings.admin.port == 3


def test_variables_hold_yaml(tmp_path: Path) -> None:
    environ = URL | {
        "SLUICEGATE_OBSERVE": "true",
        "SLUICEGATE_LIMITS__EVENT_BYTES": "1MiB",
        "SLUICEGATE_POLICIES__ORDER": "[strict, production]",
        "SLUICEGATE_ADMISSION": "{queue: 3}",
        "SLUICEGATE_ADMIN__HOST": "::1",
    }

    with chdir(tmp_path):
        settings = load_settings(None, environ, {})

    assert settings.observe
    assert settings.limits.event_bytes == MIB
    assert settings.policies.order == ("strict", "production")
    assert settings.admission.queue == 3
    assert settings.admin.host == "::1"


def test_text_of_a_flag_is_read_like_a_variable(tmp_path: Path) -> None:
    flags: dict[str, object] = {"listen.port": "0", "observe": None, "policies.folder": tmp_path}

    with chdir(tmp_path):
        settings = load_settings(None, URL, flags)

    assert settings.listen.port == 0
    assert not settings.observe
    assert settings.policies.folder == tmp_path


def test_empty_flag_takes_a_value_back(tmp_path: Path) -> None:
    file = written(tmp_path, MAIN + "keys: {file: keys.yaml}\n")

    assert load_settings(file, {}, {"keys.file": ""}).keys.file is None


def test_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    settings = load_settings(written(tmp_path, MAIN), {"SLUICEGATE_LISTEN__PORT": ""}, {})

    assert settings.listen.port == 8800


def test_variable_reaches_a_lane_whose_name_has_a_hyphen(tmp_path: Path) -> None:
    file = written(tmp_path, "lanes: {main: {url: 'http://a'}, b-2: {url: 'http://b'}}")

    settings = load_settings(file, {"SLUICEGATE_LANES__B_2__URL": "http://c"}, {})

    assert {name: lane.url for name, lane in settings.lanes.items()} == {
        "main": "http://a",
        "b-2": "http://c",
    }


def test_relative_paths_start_from_the_settings_file(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    file = written(tmp_path, "lanes: {main: {url: 'https://a', ca_file: ca.pem}}")

    settings = load_settings(file, {}, {})

    assert settings.lanes["main"].ca_file == tmp_path / "ca.pem"


def test_relative_paths_of_flags_start_from_the_working_folder(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    with chdir(elsewhere):
        settings = load_settings(written(tmp_path, MAIN), {}, {"keys.file": "k.yaml"})

    assert settings.keys.file == elsewhere / "k.yaml"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        pytest.param(
            {"SLUICEGATE_LISTEN_PORT": "1"},
            "environment SLUICEGATE_LISTEN_PORT: unknown variable"
            " (did you mean `SLUICEGATE_LISTEN__PORT`?)",
            id="one underscore",
        ),
        pytest.param(
            {"SLUICEGATE_LANES__MAIN__ULR": "x"},
            "environment SLUICEGATE_LANES__MAIN__ULR: unknown variable"
            " (did you mean `SLUICEGATE_LANES__MAIN__URL`?)",
            id="lane",
        ),
        pytest.param(
            {"SLUICEGATE_OBSERV": "true"},
            "environment SLUICEGATE_OBSERV: unknown variable (did you mean `SLUICEGATE_OBSERVE`?)",
            id="plain key",
        ),
        pytest.param(
            {"SLUICEGATE_LISTEN__PORT": "many"},
            "environment SLUICEGATE_LISTEN__PORT: `listen.port` must be a whole number, not text"
            " (write a whole number)",
            id="wrong type",
        ),
        pytest.param(
            {"SLUICEGATE_POLICIES__ORDER": "[a, a]"},
            "environment SLUICEGATE_POLICIES__ORDER: `policies.order[1]` names `a` twice"
            " (remove one)",
            id="wrong item",
        ),
        pytest.param(
            {"SLUICEGATE_USAGE": "@x"},
            "environment SLUICEGATE_USAGE: a value cannot begin with `@`"
            " (write the value in quotes)",
            id="no YAML",
        ),
        pytest.param(
            {"SLUICEGATE_LANES__JUDGE__MODEL": "x"},
            "environment SLUICEGATE_LANES__JUDGE__MODEL: `lanes.judge` needs a `url`"
            " (add `url: http://127.0.0.1:8000`)",
            id="lane without address",
        ),
        pytest.param(
            {"SLUICEGATE_PORT": "8800"},
            "environment SLUICEGATE_PORT: unknown variable"
            " (did you mean `SLUICEGATE_ADMIN__PORT`?)",
            id="no service address",
        ),
    ],
)
def test_mistake_in_a_variable_names_it(
    tmp_path: Path, environ: Mapping[str, str], expected: str
) -> None:
    assert complaints(tmp_path, MAIN, environ) == [expected]


def test_variables_that_hold_secrets_are_no_settings(tmp_path: Path) -> None:
    file = written(tmp_path, MAIN + "admin: {token_env: SLUICEGATE_TOKEN}\n")
    environ = {
        "SLUICEGATE_TOKEN": "t",
        "SLUICEGATE_LANES__MAIN__KEY_ENV": "SLUICEGATE_UPSTREAM_KEY",
        "SLUICEGATE_UPSTREAM_KEY": "k",
        "SLUICEGATE_OTHER_KEY": "o",
    }
    flags = {"lanes.other.url": "http://h", "lanes.other.key_env": "SLUICEGATE_OTHER_KEY"}

    settings = load_settings(file, environ, flags)

    assert settings.admin.token_env == "SLUICEGATE_TOKEN"
    assert settings.lanes["main"].key_env == "SLUICEGATE_UPSTREAM_KEY"
    assert settings.lanes["other"].key_env == "SLUICEGATE_OTHER_KEY"


def test_variables_that_kubernetes_writes_for_a_service_are_ignored(tmp_path: Path) -> None:
    environ = {
        "SLUICEGATE_SERVICE_HOST": "10.0.0.1",
        "SLUICEGATE_SERVICE_PORT_HTTP": "8800",
        "SLUICEGATE_PORT": "tcp://10.0.0.1:8800",
        "SLUICEGATE_PROXY_PORT_8800_TCP_ADDR": "10.0.0.1",
    }

    assert load_settings(written(tmp_path, MAIN), environ, {}) == load_settings(
        written(tmp_path, MAIN), {}, {}
    )


def test_mistake_in_a_flag_names_it_as_typed(tmp_path: Path) -> None:
    file = written(tmp_path, MAIN)

    with pytest.raises(SettingsError) as caught:
        load_settings(
            file,
            {},
            {"listen.port": -1, "admin.prot": 1, "usage": "@"},
            {"listen.port": "--port"},
        )

    assert [str(problem) for problem in caught.value.problems] == [
        "flag --admin.prot: unknown setting `admin.prot` (did you mean `admin.port`?)",
        "flag --port: `listen.port` is -1, but must be at least 0 (change the number)",
        "flag --usage: a value cannot begin with `@` (write the value in quotes)",
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("- a", id="list"),
        pytest.param("lanes: [a]", id="list for lanes"),
        pytest.param("lanes: {main: x}", id="text for a lane"),
    ],
)
def test_override_of_a_misshapen_file_hides_nothing(tmp_path: Path, text: str) -> None:
    (found,) = complaints(tmp_path, text, URL)

    assert "must be a mapping" in found


def test_override_drops_the_places_of_what_it_replaces(tmp_path: Path) -> None:
    text = MAIN + "policies: {order: [a, b]}\n"

    found = complaints(tmp_path, text, {"SLUICEGATE_POLICIES__ORDER": "[c, C]"})

    assert found[0].startswith("environment SLUICEGATE_POLICIES__ORDER: `policies.order[1]`")
