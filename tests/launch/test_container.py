import shlex
from pathlib import Path

import pytest

from proxy.errors import RecipeError
from proxy.launch.container import container_command, shown_command
from tests.fakes.launch import reading_at
from tests.launch.test_plan import document
from tests.recipes.made import reading_of


def test_container_runs_the_recipe_s_image_with_its_arguments_and_variables(
    tmp_path: Path,
) -> None:
    reading = reading_at(tmp_path, 8000)

    command = container_command(reading)

    at = command.index("image:1")
    assert command[:9] == (
        *("docker", "run", "--rm", "--gpus", "all", "--network", "host", "--ipc", "host"),
    )
    assert command[at - 4 : at] == ("-e", "VLLM_STAND_IN=a b", "--entrypoint", "")
    assert command[at + 1 :] == ("vllm", "serve", *reading.whole().command.arguments)


def test_shell_reads_the_shown_command_as_that_list(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, document(env={"A": "it's $(touch /x); `y` | z"}))

    words = shlex.split(shown_command(reading).replace("\\\n", ""))

    at = words.index("-v")
    assert (*words[:at], *words[at + 2 :]) == container_command(reading)
    assert words[at + 1] == "$HOME/.cache/huggingface:/root/.cache/huggingface"


def test_what_the_container_would_lack_stands_in_comments(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, document(mods=["mods/fix"]))

    assert shown_command(reading).startswith("# left out: mods/fix\ndocker run")


def test_variables_that_steer_programs_are_the_container_s_own_affair(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, document(env={"PATH": "/opt/bin"}))

    assert "PATH=/opt/bin" in container_command(reading)


@pytest.mark.parametrize("container", [None, "--privileged", "image:1\n", "a b", "$(id)", "é"])
def test_recipe_without_the_name_of_an_image_is_refused(
    tmp_path: Path, container: str | None
) -> None:
    with pytest.raises(RecipeError, match="container"):
        container_command(reading_of(tmp_path, document(container=container)))


def test_text_that_a_shell_would_read_otherwise_is_not_shown(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, document(command="vllm serve m --port 8000 > log"))

    with pytest.raises(RecipeError, match="would redirect"):
        shown_command(reading)
