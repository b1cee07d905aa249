from pathlib import Path

import pytest

from proxy.data_files import recipe_files, recipes_folder
from proxy.recipes.check.text_faults import MAX_FAULTS, text_faults
from proxy.recipes.reading import open_recipe
from tests.recipes.checked import FIRST
from tests.recipes.made import reading_of


def faults(folder: Path, command: str) -> list[str]:
    text = f"{FIRST}model: a/b\ndefaults: {{split: a b, one: a}}\ncommand: {command}\n"
    return [problem.message for problem in text_faults(reading_of(folder, text))]


@pytest.mark.parametrize(
    "command",
    [
        *("vllm serve a/b $(id)", "vllm serve a/b `id`", "vllm serve a/b; id", "id | vllm serve m"),
        *("vllm serve a/b > x", "vllm serve a/b < x", "vllm serve a/b $HOME", "vllm serve a/b &"),
        *("vllm serve a/b --x {split}", "A=1 vllm serve a/b", "cd /x && vllm serve a/b"),
    ],
)
def test_what_a_shell_would_read_otherwise_is_a_fault(tmp_path: Path, command: str) -> None:
    assert faults(tmp_path, command)


@pytest.mark.parametrize(
    "command",
    [
        *("vllm serve a/b --x {one}", "vllm serve a/b --x '{split}'", "exec vllm serve a/b"),
        *("vllm serve a/b # ours", "vllm serve a/b --x '$(id) > `x`'", "vllm serve {model}"),
        "vllm serve a/b --hf-overrides '{\"a\":1}'",
    ],
)
def test_what_a_shell_would_read_the_same_is_none(tmp_path: Path, command: str) -> None:
    assert faults(tmp_path, command) == []


def test_shipped_recipes_have_none() -> None:
    assert [[*text_faults(open_recipe(path))] for path in recipe_files(recipes_folder())] == [
        []
    ] * 6


def test_file_without_a_command_has_none(tmp_path: Path) -> None:
    assert list(text_faults(reading_of(tmp_path, FIRST))) == []


def test_no_fault_shows_a_secret(tmp_path: Path) -> None:
    told = faults(tmp_path, "vllm serve a/b --api-key sk-*1234567")

    assert told
    assert "sk-*1234567" not in str(told)


def test_faults_of_one_command_are_bounded(tmp_path: Path) -> None:
    found = faults(tmp_path, "vllm serve a/b" + " > x" * 2 * MAX_FAULTS)

    assert len(found) == MAX_FAULTS
