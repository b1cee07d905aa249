import dataclasses
import json
from pathlib import Path
from types import MappingProxyType

from proxy.data_files import recipes_folder
from proxy.recipes.reading import read_recipe
from proxy.recipes.recipe import Recipe
from proxy.recipes.show.recipe_json import recipe_json
from proxy.recipes.show.secrets import MASK
from tests.recipes.served import MODEL, served


def test_every_field_of_a_recipe_is_there() -> None:
    recipe = read_recipe(recipes_folder() / "qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml")

    document = json.loads(recipe_json(recipe))

    assert set(document) == {each.name for each in dataclasses.fields(Recipe)} | {"arguments"}
    assert document["file"] == str(recipe.file)
    assert document["version"] == 1
    assert document["engine"]["speculation"] == {
        "method": "mtp",
        "tokens": 1,
        "model": None,
        "options": {"method": "mtp", "num_speculative_tokens": 1},
    }
    assert document["command"]["flags"]["--max-num-seqs"]["values"] == ["4"]
    assert document["arguments"] == list(recipe.command.arguments)


def test_secrets_are_masked_wherever_they_stand() -> None:
    recipe = served(
        "--api-key {api_key} --port 8000",
        keys="defaults: {api_key: top-secret-1}\nenv: {HF_TOKEN: hf_0123456789}",
    )

    text = recipe_json(recipe)

    document = json.loads(text)
    assert "top-secret-1" not in text
    assert "hf_0123456789" not in text
    assert document["arguments"] == [MODEL, "--api-key", MASK, "--port", "8000"]
    assert document["environment"] == {"HF_TOKEN": MASK}


def test_text_of_strangers_cannot_steer_a_terminal() -> None:
    recipe = dataclasses.replace(served(), description="\x1b[2J\u202e\ud800")

    text = recipe_json(recipe)

    assert text.isascii()
    assert json.loads(text)["description"] == "\x1b[2J\u202e\ud800"


def test_any_mapping_has_a_form() -> None:
    recipe = dataclasses.replace(
        served(), environment=MappingProxyType({"A": "1"}), file=Path("a.yaml")
    )

    document = json.loads(recipe_json(recipe))

    assert (document["environment"], document["file"]) == ({"A": "1"}, "a.yaml")
