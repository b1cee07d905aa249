import hashlib
from pathlib import Path

import pytest

from proxy.contract.yaml_places import read_yaml
from proxy.data_files import recipes_folder
from proxy.errors import RecipeError
from proxy.recipes.recipe import load_recipe

SHIPPED = "qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml"


def written(folder: Path, text: str) -> Path:
    path = folder / "r.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_shipped_recipe_is_read() -> None:
    path = recipes_folder() / SHIPPED

    recipe = load_recipe(path, read_yaml)

    assert recipe.name.startswith("qwen3.6-35b-a3b-fp8")
    assert recipe.model == "Qwen/Qwen3.6-35B-A3B-FP8"
    assert recipe.max_num_seqs == 4
    assert recipe.max_model_len == 262144
    assert recipe.file == path
    assert recipe.hash == hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def test_recipe_may_leave_all_but_the_model_to_the_engine(tmp_path: Path) -> None:
    recipe = load_recipe(written(tmp_path, "recipe_version: 1\nmodel: a/b\ndefaults:\n"), read_yaml)

    assert recipe.name == "r"
    assert recipe.max_num_seqs is None
    assert recipe.max_model_len is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "recipe_version: 1",
            "r.yaml:1:1: the key `model` is missing (add `model: owner/name`)",
            id="no model",
        ),
        pytest.param(
            "recipe_version: 1\nmodel: 5",
            "r.yaml:2:8: `model` must be text (write it in quotes)",
            id="model is a number",
        ),
        pytest.param(
            "recipe_version: 1\nmodel:",
            "r.yaml:2:7: `model` must be text (write it in quotes)",
            id="model is nothing",
        ),
        pytest.param(
            "recipe_version: 1\nmodel: a\nname: [b]",
            "r.yaml:3:7: `name` must be text (write it in quotes)",
            id="name is a list",
        ),
        pytest.param(
            'recipe_version: "2"\nmodel: a',
            "r.yaml:1:17: `recipe_version` is `2`; this version reads recipes of version 1"
            ' (write `recipe_version: "1"`)',
            id="later version",
        ),
        pytest.param(
            "model: a",
            "r.yaml:1:1: `recipe_version` is missing; this version reads recipes of version 1"
            ' (write `recipe_version: "1"`)',
            id="no version",
        ),
        pytest.param(
            "recipe_version: 1\nmodel: a\ndefaults: [1]",
            "r.yaml:3:11: `defaults` must be a mapping of keys and values"
            " (write `key: value` lines)",
            id="defaults are a list",
        ),
        pytest.param(
            'recipe_version: 1\nmodel: a\ndefaults: {max_num_seqs: "4"}',
            "r.yaml:3:26: `defaults.max_num_seqs` must be a whole number above 0"
            " (write the number without quotes)",
            id="count is text",
        ),
        pytest.param(
            "recipe_version: 1\nmodel: a\ndefaults: {max_model_len: 0}",
            "r.yaml:3:27: `defaults.max_model_len` must be a whole number above 0"
            " (write the number without quotes)",
            id="count is zero",
        ),
        pytest.param(
            "recipe_version: 1\nmodel: a\ndefaults: {max_num_seqs: true}",
            "r.yaml:3:26: `defaults.max_num_seqs` must be a whole number above 0"
            " (write the number without quotes)",
            id="count is a truth",
        ),
        pytest.param(
            "recipe_version: 1\nmodel: a\nmodel: b",
            "r.yaml:3:1: the key `model` is written twice, first in line 2 (remove one of the two)",
            id="duplicate key",
        ),
        pytest.param(
            "",
            "r.yaml:1:1: the file is empty (write keys and values, such as `key: value`)",
            id="empty",
        ),
    ],
)
def test_mistake_has_place_and_remedy(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(RecipeError) as caught:
        load_recipe(written(tmp_path, text), read_yaml)

    found = [str(problem).replace(f"{tmp_path}/", "") for problem in caught.value.problems]
    assert found == [expected]


def test_file_that_is_no_mapping_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(RecipeError) as caught:
        load_recipe(written(tmp_path, "- a"), read_yaml)

    (problem,) = caught.value.problems
    assert problem.message == "the file must be a mapping of keys and values"


def test_missing_file_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="there is no such file"):
        load_recipe(tmp_path / "absent.yaml", read_yaml)
