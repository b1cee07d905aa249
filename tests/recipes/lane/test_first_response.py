from pathlib import Path

import pytest

from proxy.data_files import recipes_folder
from proxy.recipes.lane.first_response import why_default_may_not_fit
from proxy.recipes.reading import read_recipe
from tests.fakes.served_recipe import MTP1_FLAGS, write_recipe

MODEL = "Qwen/Qwen3.6-35B-A3B-FP8"


def test_default_fits_the_promoted_recipe() -> None:
    promoted = recipes_folder() / "qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml"

    assert why_default_may_not_fit(read_recipe(promoted)) is None


@pytest.mark.parametrize("flags", ["", MTP1_FLAGS], ids=["no_speculation", "mtp1"])
def test_default_fits_the_same_model_with_one_draft_token_or_none(
    tmp_path: Path, flags: str
) -> None:
    assert why_default_may_not_fit(read_recipe(write_recipe(tmp_path, flags, MODEL))) is None


def test_default_may_not_fit_two_draft_tokens(tmp_path: Path) -> None:
    flags = MTP1_FLAGS.replace('"num_speculative_tokens":1', '"num_speculative_tokens":2')

    assert why_default_may_not_fit(read_recipe(write_recipe(tmp_path, flags, MODEL))) == (
        "the recipe drafts 2 tokens a step; the default fits Qwen/Qwen3.6-35B-A3B-FP8 with one "
        "draft token, whose stated TTFR is 0.1482 s"
    )


def test_default_may_not_fit_another_model(tmp_path: Path) -> None:
    reason = why_default_may_not_fit(read_recipe(write_recipe(tmp_path)))

    assert reason is not None
    assert reason.startswith("the recipe serves another model; ")
