from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

import pytest

from proxy.errors import RecipeError
from proxy.recipes.evidence.table import Row, read_table


class Colour(StrEnum):
    RED = "red"


class Thing(Row):
    size: float
    colour: Colour
    names: tuple[str, ...] = ()


class Things(Row):
    things: Mapping[str, Thing]


def written(folder: Path, text: str) -> Path:
    path = folder / "t.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_words_and_lists_become_what_the_model_says(tmp_path: Path) -> None:
    path = written(tmp_path, "things: {a: {size: 1, colour: red, names: [x]}}")

    table, places = read_table(path, Things)

    assert table.things["a"] == Thing(size=1.0, colour=Colour.RED, names=("x",))
    assert places.key(("things", "a")).line == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "things:\n  a: {size: 1, colour: red, weight: 2}",
            "t.yaml:2:29: unknown key `things.a.weight` (remove it)",
            id="unknown key",
        ),
        pytest.param(
            "things:\n  a: {size: 1}",
            "t.yaml:2:6: the key `things.a.colour` is missing (add it)",
            id="missing key",
        ),
        pytest.param(
            'things:\n  a: {size: "1", colour: red}',
            "t.yaml:2:13: `things.a.size`: Input should be a valid number (change the value)",
            id="number as text",
        ),
        pytest.param(
            "things:\n  a: {size: 1, colour: blue}",
            "t.yaml:2:24: `things.a.colour`: Input should be 'red' (change the value)",
            id="word that is none",
        ),
        pytest.param(
            "things:\n  a: {size: .inf, colour: red}",
            "t.yaml:2:13: `things.a.size`: Input should be a finite number (change the value)",
            id="infinite",
        ),
        pytest.param(
            "- a",
            "t.yaml:1:1: `the file`: Input should be an object (change the value)",
            id="a list",
        ),
        pytest.param(
            "things: {}\nthings: {}",
            "t.yaml:2:1: the key `things` is written twice, first in line 1"
            " (remove one of the two)",
            id="not clean YAML",
        ),
    ],
)
def test_mistake_has_its_place(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(RecipeError) as caught:
        read_table(written(tmp_path, text), Things)

    (problem,) = caught.value.problems
    assert str(problem).removeprefix(f"{tmp_path}/") == expected


def test_every_problem_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, "things: {a: {size: x, colour: y}, b: {size: 1}}")

    with pytest.raises(RecipeError) as caught:
        read_table(path, Things)

    assert len(caught.value.problems) == 3
