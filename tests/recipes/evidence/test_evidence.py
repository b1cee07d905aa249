import shutil
from pathlib import Path

import pytest

from proxy.data_files import recipe_files, recipes_folder
from proxy.errors import RecipeError
from proxy.recipes.compare.comparability import Verdict
from proxy.recipes.evidence.evidence import Evidence, read_evidence
from proxy.recipes.reading import read_recipe
from tests.recipes.made import recipe_of

FOLDER = recipes_folder()
PROMOTED = FOLDER / "qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml"


@pytest.fixture(scope="module")
def shipped() -> Evidence:
    return read_evidence(FOLDER)


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.stem) for path in recipe_files(FOLDER)]
)
def test_every_shipped_recipe_has_its_own_record(shipped: Evidence, path: Path) -> None:
    match = shipped.nearest(read_recipe(path))

    assert match
    assert match.is_exact
    assert match.record.recipe.file == path


def test_record_is_found_by_content_and_not_by_name(shipped: Evidence, tmp_path: Path) -> None:
    copy = tmp_path / "mine.yaml"
    text = PROMOTED.read_text(encoding="utf-8").replace("port: 8000", "port: 9000")
    copy.write_text(text.replace("\nname: qwen", "\nname: mine-"), encoding="utf-8")

    match = shipped.nearest(read_recipe(copy))

    assert match
    assert match.is_exact
    assert match.record.recipe.file == PROMOTED


@pytest.mark.parametrize(
    ("override", "nearest", "differs_in"),
    [
        pytest.param("max_num_seqs=8", PROMOTED.name, ("--max-num-seqs",), id="other limit"),
        pytest.param(
            "gpu_memory_utilization=0.9",
            PROMOTED.name,
            ("--gpu-memory-utilization",),
            id="other share of memory",
        ),
    ],
)
def test_recipe_that_differs_has_the_nearest_record_and_the_difference(
    shipped: Evidence, override: str, nearest: str, differs_in: tuple[str, ...]
) -> None:
    match = shipped.nearest(read_recipe(PROMOTED, (override,)))

    assert match
    assert match.record.recipe.file.name == nearest
    assert match.comparison.verdict is Verdict.ONE_SWITCH
    assert match.comparison.units == differs_in


def test_same_checkpoint_is_nearer_than_few_switches(shipped: Evidence, tmp_path: Path) -> None:
    text = (
        'recipe_version: "1"\nname: n\ncontainer: vllm-node\ncommand: vllm serve'
        " Qwen/Qwen3.6-35B-A3B-FP8 --kv-cache-dtype fp8 --attention-backend flashinfer\n"
    )

    match = shipped.nearest(recipe_of(tmp_path, text))

    assert match
    assert match.record.recipe.model == "Qwen/Qwen3.6-35B-A3B-FP8"


def test_another_model_has_no_record(shipped: Evidence, tmp_path: Path) -> None:
    text = 'recipe_version: "1"\nname: n\ncontainer: c\ncommand: vllm serve openai/gpt-oss-120b\n'

    assert shipped.nearest(recipe_of(tmp_path, text)) is None


def test_recipes_that_the_source_does_not_tell_are_known_to_be_that(shipped: Evidence) -> None:
    known = {record.recipe.file.stem for record in shipped.records if record.is_known}

    assert {stem.rpartition("fp8-")[2] for stem in known} == {
        "baseline",
        "mtp1-auto",
        "mtp1-flashinfer",
        "mtp2",
    }


def test_results_of_a_recipe_that_is_missing_are_a_problem(tmp_path: Path) -> None:
    folder = tmp_path / "recipes"
    shutil.copytree(FOLDER, folder)
    (folder / PROMOTED.name).unlink()

    with pytest.raises(RecipeError, match=f"{PROMOTED.name}: there is no such file"):
        read_evidence(folder)


def test_origin_that_is_not_told_makes_a_recipe_unknown(tmp_path: Path) -> None:
    folder = tmp_path / "recipes"
    shutil.copytree(FOLDER, folder)
    (folder / "provenance.yaml").write_text("source: s\nrecipes: {}\n", encoding="utf-8")

    assert not any(record.is_known for record in read_evidence(folder).records)
