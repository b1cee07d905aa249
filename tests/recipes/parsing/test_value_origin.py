from pathlib import Path

import pytest

from proxy.recipes.parsing.overrides import Overrides
from proxy.recipes.parsing.value_origin import Origins
from tests.recipes.made import reading_of

HEAD = 'recipe_version: "2"\nmodel: a/b\n'


def place(folder: Path, text: str, flag: str, *overrides: str, offset: int = 0) -> str:
    reading = reading_of(folder, text, *overrides)
    assert reading.command is not None
    places = reading.document.places
    overridden = frozenset(Overrides.of(overrides, []).values)
    origins = Origins.of(reading.command, places, overridden)
    (found,) = [each for each in reading.command.command.written if each.name == flag]
    return str(origins.of_value(found).at(places, offset)).replace(f"{folder}/r.yaml:", "")


@pytest.mark.parametrize(
    ("command", "flag", "expected"),
    [
        pytest.param("vllm serve a/b --port 8000", "--port", "3:32", id="next word"),
        pytest.param("vllm serve a/b --port=8000", "--port", "3:32", id="same word"),
        pytest.param("vllm serve a/b --port '8000'", "--port", "3:33", id="in quotes"),
        pytest.param("vllm serve a/b --headless", "--headless", "3:25", id="no value"),
        pytest.param("vllm serve a/b --zzz 1 --port 2", "--port", "3:40", id="behind another"),
    ],
)
def test_value_in_the_command_has_the_place_of_its_first_character(
    tmp_path: Path, command: str, flag: str, expected: str
) -> None:
    assert place(tmp_path, f"{HEAD}command: {command}\n", flag) == expected


def test_value_of_a_default_stands_in_the_default(tmp_path: Path) -> None:
    text = f"{HEAD}defaults: {{p: '8000'}}\ncommand: vllm serve a/b --port '{{p}}'\n"

    assert place(tmp_path, text, "--port") == "3:16"
    assert place(tmp_path, text, "--port", offset=2) == "3:18"


def test_value_of_an_override_stands_there(tmp_path: Path) -> None:
    text = f"{HEAD}defaults: {{p: 1}}\ncommand: vllm serve a/b --port {{p}}\n"

    assert place(tmp_path, text, "--port", "p=2") == "--set p"


def test_value_joined_from_several_parts_stands_where_its_word_does(tmp_path: Path) -> None:
    text = f"{HEAD}defaults: {{p: 1}}\ncommand: vllm serve a/b --port {{p}}{{p}}\n"

    assert place(tmp_path, text, "--port", offset=1) == "4:32"


def test_folded_command_has_one_place_for_all(tmp_path: Path) -> None:
    text = f"{HEAD}command: >-\n  vllm serve a/b\n  --port 1\n"

    assert place(tmp_path, text, "--port") == "3:10"
