from pathlib import Path

import pytest

from tests.recipes.checked import FIRST, SECOND, codes, findings_of, found

SERVE = "command: vllm serve a/b --port {x}\n"


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        pytest.param(
            "010",
            "yaml-number",
            "4:15 warning: `defaults.x` is written `010`, which YAML reads as the number 8 "
            "(write the number in decimal digits, or the text in quotes)",
            id="octal",
        ),
        pytest.param(
            "1:30",
            "yaml-number",
            "4:15 warning: `defaults.x` is written `1:30`, which YAML reads as the number 90 "
            "(write the number in decimal digits, or the text in quotes)",
            id="sexagesimal",
        ),
        pytest.param(
            "0x1F40",
            "yaml-number",
            "4:15 warning: `defaults.x` is written `0x1F40`, which YAML reads as the number 8000 "
            "(write the number in decimal digits, or the text in quotes)",
            id="hexadecimal",
        ),
        pytest.param(
            "yes",
            "yaml-switch",
            "4:15 warning: `defaults.x` is written `yes`, read as true, and filled in as the text "
            '`True` (write the text: "yes")',
            id="yes",
        ),
        pytest.param(
            "false",
            "yaml-switch",
            "4:15 warning: `defaults.x` is written `false`, read as false, and filled in as the "
            'text `False` (write the text: "false")',
            id="false",
        ),
    ],
)
def test_value_that_yaml_reads_otherwise_is_named(
    tmp_path: Path, value: str, code: str, expected: str
) -> None:
    text = f"{FIRST}defaults: {{x: {value}}}\n{SERVE}"

    assert found(tmp_path, text, code) == [expected]


@pytest.mark.parametrize("value", ["8000", "0.70", '"010"', "1e3", "'yes'", "0.0.0.0"])
def test_value_that_reads_as_it_looks_is_no_finding(tmp_path: Path, value: str) -> None:
    text = f"{FIRST}defaults: {{x: {value}}}\n{SERVE}"

    assert not codes(tmp_path, text) & {"yaml-number", "yaml-switch"}


def test_version_that_is_a_number_to_yaml_is_named(tmp_path: Path) -> None:
    text = f"{SECOND}runtime_version: 0.10\ncommand: vllm serve a/b\n"

    assert found(tmp_path, text, "yaml-number") == [
        (
            "2:18 warning: `runtime_version` is written `0.10`, which YAML reads as the number 0.1 "
            '(write the text in quotes: "0.10")'
        )
    ]


def test_secret_default_is_named_and_never_shown(tmp_path: Path) -> None:
    text = f"{FIRST}defaults: {{api_key: sk-12345678, x: 1}}\ncommand: vllm serve a/b {{api_key}}\n"

    findings = findings_of(tmp_path, text)

    assert found(tmp_path, text, "secret-in-file") == [
        (
            "4:21 warning: `defaults.api_key` holds a secret in a file that others may read "
            "(set it in the environment of the engine instead, or hand it over with `--set`)"
        )
    ]
    assert "sk-12345678" not in str(findings)


@pytest.mark.parametrize("value", ["$HF_TOKEN", "'${HF_TOKEN}'", "''"])
def test_reference_to_a_variable_is_no_secret(tmp_path: Path, value: str) -> None:
    text = f"{FIRST}defaults: {{hf_token: {value}}}\ncommand: vllm serve a/b\n"

    assert "secret-in-file" not in codes(tmp_path, text)


@pytest.mark.parametrize("key", ["container", "model", "runtime"])
def test_line_break_in_a_text_of_one_line_is_an_error(tmp_path: Path, key: str) -> None:
    text = f'recipe_version: "2"\n{key}: "a\\ntouch x"\ncommand: vllm serve a/b\n'
    column = len(f"{key}: ") + 1

    assert found(tmp_path, text, "control-character") == [
        (
            f"2:{column} error: `{key}` holds a line break or another character that cannot be "
            "seen (write it on one line)"
        )
    ]


def test_line_break_in_a_mod_is_an_error_at_its_place(tmp_path: Path) -> None:
    text = f'{FIRST}mods: [mods/a, "b\\rtouch x"]\ncommand: vllm serve a/b\n'

    assert found(tmp_path, text, "control-character") == [
        (
            "4:16 error: `mods` holds a line break or another character that cannot be seen "
            "(write it on one line)"
        )
    ]


@pytest.mark.parametrize("name", ["a b", "-it", "a;b", "$IMAGE"])
def test_container_that_is_no_image_is_an_error(tmp_path: Path, name: str) -> None:
    text = f'recipe_version: "2"\ncontainer: "{name}"\ncommand: vllm serve a/b\n'

    assert found(tmp_path, text, "no-image") == [
        (
            "2:12 error: `container` is no name of an image "
            "(write REPOSITORY:TAG, of letters, digits and `._-/:@`)"
        )
    ]
