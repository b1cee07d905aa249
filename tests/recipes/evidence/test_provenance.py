import hashlib
import itertools
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.data_files import recipe_files, recipes_folder
from proxy.errors import RecipeError
from proxy.recipes.compare.comparability import Verdict, compare
from proxy.recipes.compare.switch_values import meaning_of
from proxy.recipes.compare.switches import switches_of
from proxy.recipes.evidence import provenance
from proxy.recipes.evidence.provenance import Knowledge, read_provenance
from proxy.recipes.reading import read_recipe
from proxy.recipes.recipe import Recipe

FOLDER = recipes_folder()
PROMOTED = "qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml"
ORIGINS = read_provenance(FOLDER / provenance.FILE)
RECIPES = {path.name: read_recipe(path) for path in recipe_files(FOLDER)}
SHORT = {name.removeprefix("qwen3.6-35b-a3b-").removesuffix(".yaml"): name for name in RECIPES}
EACH = pytest.mark.parametrize("name", SHORT)


def differing(one: Recipe, other: Recipe) -> set[str]:
    return {difference.name for difference in compare(one, other).differences}


def test_promoted_recipe_is_as_it_was_published() -> None:
    published = "3b5ad2c834a6750db29057afe1070d9f55d83ff13f6ca21439eb76f388462028"

    assert hashlib.sha256((FOLDER / PROMOTED).read_bytes()).hexdigest() == published


def test_every_shipped_recipe_has_its_origin_told() -> None:
    assert ORIGINS.recipes.keys() == RECIPES.keys()
    assert len(RECIPES) == 6


@EACH
def test_origins_name_exactly_the_switches_that_differ(name: str) -> None:
    origin = ORIGINS.recipes[SHORT[name]]

    found = differing(RECIPES[SHORT[name]], RECIPES[origin.like or SHORT[name]])

    assert found == origin.changes.keys()


@EACH
def test_what_an_engine_chose_is_left_open_by_its_recipe(name: str) -> None:
    switches = switches_of(RECIPES[SHORT[name]])

    assert not ORIGINS.recipes[SHORT[name]].chosen.keys() & switches.keys()


@EACH
def test_no_recipe_contradicts_what_is_told_of_it(name: str) -> None:
    recipe = RECIPES[SHORT[name]]
    switches = switches_of(recipe)

    for switch, change in ORIGINS.recipes[SHORT[name]].changes.items():
        found = switches.get(switch)
        told = None
        if found and change.value is not None:
            told = meaning_of(switch, found.group, change.value)
        assert told == (found.meaning if found else None)
        assert (found is None) == (change.value is None)


def test_baseline_and_both_others_of_the_core_ablation_differ_in_one_switch_each() -> None:
    core = [RECIPES[SHORT[name]] for name in ("fp8-baseline", "fp8-mtp1-auto", "fp8-mtp2")]

    found = [compare(one, other) for one, other in itertools.combinations(core, 2)]

    assert [comparison.verdict for comparison in found] == [Verdict.ONE_SWITCH] * 3
    assert {unit for comparison in found for unit in comparison.units} == {
        "speculation",
        "speculation tokens",
    }


def test_pin_is_the_only_difference_between_the_two_runs_with_one_draft_token() -> None:
    found = differing(RECIPES[SHORT["fp8-mtp1-auto"]], RECIPES[PROMOTED])

    assert found == {"--attention-backend"}


@pytest.mark.parametrize(
    ("name", "switches"),
    [
        pytest.param(
            "fp8-dflash",
            {
                "speculation drafter",
                "--kv-cache-dtype",
                "--max-num-batched-tokens",
                "--max-num-seqs",
            },
            id="DFlash: drafter, KV type, batch budget, concurrency",
        ),
        pytest.param(
            "nvfp4-mtp3",
            {"model", "container", "speculation tokens"},
            id="NVFP4: number format, container, draft tokens",
        ),
    ],
)
def test_what_the_article_says_of_an_alternative_shows(name: str, switches: set[str]) -> None:
    comparison = compare(RECIPES[SHORT[name]], RECIPES[PROMOTED])

    assert comparison.verdict is Verdict.LIMITED
    assert {difference.name for difference in comparison.differences} >= switches


@EACH
def test_recipe_runs_with_run_recipe_too_unless_the_article_printed_it_otherwise(name: str) -> None:
    document: dict[str, Any] = yaml.safe_load((FOLDER / SHORT[name]).read_text(encoding="utf-8"))
    command, defaults = document["command"], document["defaults"]

    if SHORT[name] == PROMOTED:
        with pytest.raises(KeyError):
            command.format(**defaults)
        return
    words = shlex.split(command.format(**defaults).replace("\\\n", " "))

    assert tuple(words[2:]) == RECIPES[SHORT[name]].command.arguments


def test_assumed_switches_are_told_apart_from_stated_ones() -> None:
    origin = ORIGINS.recipes[SHORT["fp8-mtp2"]]

    assert origin.kept.status is Knowledge.STATED
    assert list(origin.assumed) == ["--attention-backend"]


@pytest.mark.parametrize(
    "origin",
    [
        pytest.param("{status: stated, reason: r}", id="stated with a reason"),
        pytest.param("{status: assumed, quote: q}", id="assumed with a quote"),
        pytest.param("{status: assumed}", id="assumed without a reason"),
        pytest.param("{status: stated, quote: q, reason: r}", id="both"),
    ],
)
def test_origin_has_a_quote_or_a_reason_by_its_status(tmp_path: Path, origin: str) -> None:
    path = tmp_path / "provenance.yaml"
    path.write_text(
        f"source: s\nrecipes:\n  a.yaml: {{like: null, kept: {origin}, changes: {{}}}}\n",
        encoding="utf-8",
    )

    with pytest.raises(RecipeError, match="`stated` has a quote, `assumed` a reason"):
        read_provenance(path)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        pytest.param("{value: v, quote: q}", "status` is missing", id="not told how"),
        pytest.param(
            "{value: v, status: inferred, quote: q}",
            "`stated` has a quote, `inferred` a reason",
            id="inferred with a quote",
        ),
        pytest.param(
            "{value: v, status: assumed, reason: r}",
            "what an engine chose is `stated` or `inferred`",
            id="assumed",
        ),
    ],
)
def test_choice_of_an_engine_says_how_it_is_known(
    tmp_path: Path, choice: str, expected: str
) -> None:
    path = tmp_path / "provenance.yaml"
    path.write_text(
        "source: s\nrecipes:\n  a.yaml: {like: null, kept: {status: stated, quote: q},"
        f" changes: {{}}, chosen: {{--x: {choice}}}}}\n",
        encoding="utf-8",
    )

    with pytest.raises(RecipeError, match=expected):
        read_provenance(path)


def test_value_of_a_switch_is_never_inferred(tmp_path: Path) -> None:
    path = tmp_path / "provenance.yaml"
    path.write_text(
        "source: s\nrecipes:\n  a.yaml: {like: null, kept: {status: inferred, reason: r},"
        " changes: {}}\n",
        encoding="utf-8",
    )

    with pytest.raises(RecipeError, match="a switch's value is `stated` or `assumed`"):
        read_provenance(path)


# The article's sentence on the automatic mode stands in its section on MTP1.
def test_only_the_automatic_run_with_one_draft_token_was_seen_to_choose() -> None:
    seen = {
        short: choice.status
        for short, name in SHORT.items()
        for choice in ORIGINS.recipes[name].chosen.values()
    }

    assert seen == {
        "fp8-baseline": Knowledge.INFERRED,
        "fp8-mtp1-auto": Knowledge.STATED,
        "fp8-mtp2": Knowledge.INFERRED,
    }
