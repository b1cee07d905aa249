from pathlib import Path

import pytest

from tests.recipes.made import problems_of, recipe_of

TEXT = "recipe_version: 1\nmodel: a/b\ncommand: vllm serve a/b\n"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param("name: [b]", "4:7: `name` must be text (write it in quotes)", id="name"),
        pytest.param("name: ''", "4:7: `name` must be text (write it in quotes)", id="blank name"),
        pytest.param(
            "defaults: 5",
            "4:11: `defaults` must be a mapping of keys and values (write `key: value` lines)",
            id="defaults",
        ),
        pytest.param(
            "defaults: {a: }",
            "4:15: `defaults.a` has no value (write one, or remove the key)",
            id="default without a value",
        ),
        pytest.param(
            "env: {A: [1]}",
            "4:10: `env.A` is a list, which no command line can hold "
            "(write it as text, for instance JSON in single quotes)",
            id="a list in env",
        ),
        pytest.param(
            "defaults: {a: {b: 1}}",
            "4:15: `defaults.a` is a mapping, which no command line can hold "
            "(write it as text, for instance JSON in single quotes)",
            id="a mapping in defaults",
        ),
        pytest.param(
            "mods: a", "4:7: `mods` must be a list of texts (write `- text` lines)", id="mods"
        ),
        pytest.param(
            "solo_only: 'no'",
            "4:12: `solo_only` must be true or false (write `true` or `false`)",
            id="switch",
        ),
        pytest.param(
            "max_nodes: 0",
            "4:12: `max_nodes` must be a whole number above 0 (write the number without quotes)",
            id="count",
        ),
        pytest.param(
            "max_nodes: true",
            "4:12: `max_nodes` must be a whole number above 0 (write the number without quotes)",
            id="a switch for a count",
        ),
    ],
)
def test_value_of_another_kind_is_told(tmp_path: Path, lines: str, expected: str) -> None:
    assert problems_of(tmp_path, TEXT + lines) == [f"r.yaml:{expected}"]


def test_scalars_become_the_text_that_python_writes(tmp_path: Path) -> None:
    lines = "env: {A: true, B: 1, C: 0.70, D: 1e3, E: '0.70', F: 2026-10-01}"

    assert recipe_of(tmp_path, TEXT + lines).environment == {
        "A": "True",
        "B": "1",
        "C": "0.7",
        "D": "1e3",
        "E": "0.70",
        "F": "2026-10-01",
    }


@pytest.mark.parametrize("version", ["3", "1.0", "[1]"])
def test_version_that_is_not_known_is_told(tmp_path: Path, version: str) -> None:
    text = TEXT.replace("recipe_version: 1", f"recipe_version: {version}")

    assert problems_of(tmp_path, text) == [
        (
            f"r.yaml:1:17: `recipe_version` is `{version}`; known are `1`, `2` "
            '(write `recipe_version: "2"`)'
        )
    ]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param("builder: docker-pull", {"builder": "docker-pull"}, id="text as it is"),
        pytest.param("build_args: [--ref, 1]", {"build_args": '["--ref", 1]'}, id="a list"),
        pytest.param(
            "executor_config: {a: {b: 1}}", {"executor_config": '{"a": {"b": 1}}'}, id="a mapping"
        ),
        pytest.param("build_args: []\nbuilder:", {}, id="nothing in it"),
    ],
)
def test_key_of_any_kind_is_text_or_json(
    tmp_path: Path, lines: str, expected: dict[str, str]
) -> None:
    assert recipe_of(tmp_path, TEXT + lines).beside == expected
