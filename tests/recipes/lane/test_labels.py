from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from proxy.recipes.lane.labels import recipe_label, recipe_labels, short
from proxy.recipes.reading import read_recipe
from tests.fakes.served_recipe import write_recipe


def test_labels_tell_what_the_recipe_sets_and_are_empty_for_the_rest(tmp_path: Path) -> None:
    recipe = read_recipe(write_recipe(tmp_path))

    assert recipe_labels(recipe, "main") == {
        "lane": "main",
        "recipe": "tiny-mtp1",
        "hash": recipe.hash,
        "version": "1",
        "model": "owner/tiny",
        "max_model_len": "2048",
        "max_num_seqs": "3",
        "speculative_method": "mtp",
        "speculative_tokens": "1",
        "attention_backend": "flashinfer",
        "quantization": "",
        "kv_cache_dtype": "fp8",
    }


def test_labels_of_a_recipe_without_speculation_leave_it_empty(tmp_path: Path) -> None:
    labels = recipe_labels(read_recipe(write_recipe(tmp_path, "")), "main")

    assert (labels["speculative_method"], labels["speculative_tokens"]) == ("", "")


def test_label_is_name_and_hash(tmp_path: Path) -> None:
    recipe = read_recipe(write_recipe(tmp_path))

    assert recipe_label(recipe) == f"tiny-mtp1@{recipe.hash}"


@given(st.text())
def test_short_text_is_printable_and_bounded(text: str) -> None:
    assert short(text * 50).isprintable()
    assert len(short(text * 50)) <= 200
