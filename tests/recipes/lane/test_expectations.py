from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.data_files import recipes_folder
from proxy.recipes.lane.expectations import Contradiction, ShownSwitch, contradictions
from proxy.recipes.reading import read_recipe
from proxy.recipes.recipe import Recipe
from tests.fakes.served_recipe import MTP1_FACTS, MTP1_FLAGS, write_foreign_recipe, write_recipe

NAMES = (*MTP1_FACTS, "num_gpu_blocks")
PROMOTED = "qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml"


@pytest.fixture
def mtp1(tmp_path: Path) -> Recipe:
    return read_recipe(write_recipe(tmp_path))


def _told(found: tuple[Contradiction, ...]) -> list[tuple[str, str, str]]:
    return [(each.switch.value, each.recipe, each.server) for each in found]


def test_server_that_runs_the_recipe_contradicts_nothing(mtp1: Recipe) -> None:
    assert contradictions(mtp1, MTP1_FACTS) == ()


def test_server_that_tells_nothing_contradicts_nothing(mtp1: Recipe) -> None:
    assert contradictions(mtp1, {}) == ()


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"root": "owner/other"}, ("model", "owner/tiny", "owner/other")),
        ({"model": "alias"}, ("served_model_name", "tiny", "alias")),
        ({"max_model_len": "4096"}, ("max_model_len", "2048", "4096")),
        ({"speculative_tokens": "2"}, ("speculative_tokens", "1", "2")),
        ({"cache_dtype": "auto"}, ("kv_cache_dtype", "fp8", "auto")),
        ({"cache_dtype": "fp8_e5m2"}, ("kv_cache_dtype", "fp8", "fp8_e5m2")),
        ({"enable_prefix_caching": "False"}, ("prefix_caching", "on", "off")),
        ({"gpu_memory_utilization": "0.92"}, ("gpu_memory_utilization", "0.7", "0.92")),
        ({"vllm": "0.31.2rc1"}, ("vllm_version", "0.32.0", "0.31.2")),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_switch_that_the_server_has_otherwise_is_told(
    mtp1: Recipe, facts: Mapping[str, str], told: tuple[str, str, str]
) -> None:
    assert _told(contradictions(mtp1, {**MTP1_FACTS, **facts})) == [told]


def test_contradiction_says_what_to_do_in_one_line(mtp1: Recipe) -> None:
    (found,) = contradictions(mtp1, {**MTP1_FACTS, "speculative_tokens": "3"})

    assert found.line == (
        "speculative_tokens is 3 at the server, the recipe says 1 "
        "(start the engine with `num_speculative_tokens` 1 in `--speculative-config`, "
        "or name the recipe that it runs)"
    )


def test_server_that_does_not_draft_contradicts_a_recipe_that_does(mtp1: Recipe) -> None:
    facts = {**MTP1_FACTS, "speculative": "False"}
    del facts["speculative_tokens"]

    assert _told(contradictions(mtp1, facts)) == [("speculation", "mtp", "off")]


@pytest.mark.parametrize(
    ("tokens", "shown"), [({"speculative_tokens": "3"}, "3 draft tokens"), ({}, "on")]
)
def test_server_that_drafts_contradicts_a_recipe_that_does_not(
    tmp_path: Path, tokens: Mapping[str, str], shown: str
) -> None:
    recipe = read_recipe(write_recipe(tmp_path, "--max-model-len 2048"))

    found = contradictions(recipe, {"speculative": "True", **tokens})

    assert _told(found) == [("speculation", "off", shown)]
    assert "with no `--speculative-config`" in found[0].remedy


@pytest.mark.parametrize(
    ("flags", "facts"),
    [
        ("", {"max_model_len": "4096", "cache_dtype": "fp8", "enable_prefix_caching": "False"}),
        ("", {"gpu_memory_utilization": "0.9"}),
        ("--max-model-len auto", {"max_model_len": "4096"}),
        ("--kv-cache-dtype auto", {"cache_dtype": "fp8_e4m3"}),
        ("--kv-cache-dtype fp8", {"cache_dtype": "fp8_e4m3"}),
        ("--kv-cache-dtype fp8", {"cache_dtype": "fp8_ds_mla"}),
        ("--kv-cache-dtype bfloat16", {"cache_dtype": "auto"}),
        ("--max-model-len 4k", {"max_model_len": "4000"}),
        ("--served-model-name one two", {"model": "two"}),
        ("""--speculative-config '{"method":"mtp"}'""", {"speculative_tokens": "2"}),
        ("--max-model-len 2048", {"max_model_len": "many"}),
        ("--max-model-len 2048", {"max_model_len": "inf"}),
        ("--enable-prefix-caching", {"enable_prefix_caching": "perhaps"}),
        ("", {"vllm": "0.32.0+gb10.2"}),
        ("", {"vllm": "nightly"}),
        ("", {"root": "OWNER/Tiny"}),
        ("", {"root": "/models/any"}),
        ("", {"root": "/root/.cache/hub/models--owner--other/snapshots/1"}),
    ],
)
def test_what_is_left_open_or_means_the_same_is_no_contradiction(
    tmp_path: Path, flags: str, facts: Mapping[str, str]
) -> None:
    recipe = read_recipe(write_recipe(tmp_path, flags))

    assert contradictions(recipe, facts) == ()


def test_model_that_the_recipe_takes_from_a_folder_is_not_compared(tmp_path: Path) -> None:
    recipe = read_recipe(write_recipe(tmp_path, MTP1_FLAGS, model="/models/tiny"))

    assert contradictions(recipe, MTP1_FACTS) == ()


def test_of_another_runtime_only_the_names_are_compared(tmp_path: Path) -> None:
    recipe = read_recipe(write_foreign_recipe(tmp_path))

    found = contradictions(recipe, {**MTP1_FACTS, "vllm": "0.1.0", "model": "alias"})

    assert _told(found) == [("served_model_name", "tiny", "alias")]


def test_promoted_recipe_is_contradicted_by_a_server_with_two_draft_tokens() -> None:
    recipe = read_recipe(recipes_folder() / PROMOTED)
    server = {
        "vllm": "0.24.0",
        "model": "Qwen/Qwen3.6-35B-A3B-FP8",
        "root": "Qwen/Qwen3.6-35B-A3B-FP8",
        "max_model_len": "262144",
        "cache_dtype": "fp8",
        "enable_prefix_caching": "True",
        "gpu_memory_utilization": "0.7",
        "speculative": "True",
    }

    one = contradictions(recipe, {**server, "speculative_tokens": "1"})
    two = contradictions(recipe, {**server, "speculative_tokens": "2"})

    assert one == ()
    assert [each.switch for each in two] == [ShownSwitch.SPECULATIVE_TOKENS]


@pytest.mark.parametrize("page", ["metrics.md", "operations.md"])
def test_documentation_names_every_switch(page: str) -> None:
    text = (Path(__file__).parents[3] / "docs" / page).read_text(encoding="utf-8")

    assert [switch for switch in ShownSwitch if f"`{switch}`" not in text] == []


@given(st.dictionaries(st.sampled_from(NAMES), st.text() | st.floats().map(str)))
def test_any_facts_give_short_printable_contradictions(
    tmp_path_factory: pytest.TempPathFactory, facts: Mapping[str, str]
) -> None:
    recipe = read_recipe(write_recipe(tmp_path_factory.mktemp("recipe")))

    found = contradictions(recipe, facts)

    texts = [text for each in found for text in (each.recipe, each.server, each.remedy)]
    assert all(text.isprintable() and len(text) <= 300 for text in texts)
