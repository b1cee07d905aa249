import pytest

from proxy.recipes.compare.base_model import BaseModel, Checkpoint, base_model, checkpoint_of


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("Qwen/Qwen3.6-35B-A3B-FP8", BaseModel("qwen3.6-35b-a3b", "FP8")),
        ("nvidia/Qwen3.6-35B-A3B-NVFP4", BaseModel("qwen3.6-35b-a3b", "NVFP4")),
        (
            "Intel/Qwen3.5-122B-A10B-int4-AutoRound",
            BaseModel("qwen3.5-122b-a10b", "int4-AutoRound"),
        ),
        ("cyankiwi/MiniMax-M2.7-AWQ-4bit", BaseModel("minimax-m2.7", "AWQ-4bit")),
        ("jarrelscy/GLM-5.2-NVFP4-AQLM-hybrid", BaseModel("glm-5.2", "NVFP4-AQLM-hybrid")),
        ("owner/Tiny-8B-GGUF", BaseModel("tiny-8b", "GGUF")),
        ("openai/gpt-oss-120b", BaseModel("gpt-oss-120b", "")),
        ("/models/Tiny-8B-FP8/", BaseModel("tiny-8b", "FP8")),
    ],
)
def test_owner_and_format_are_no_part_of_a_models_name(model: str, expected: BaseModel) -> None:
    assert base_model(model) == expected


@pytest.mark.parametrize(
    "model",
    [
        pytest.param("owner/Tiny-8B-FP8-Instruct", id="something follows the format"),
        pytest.param("sparkarena/Tiny-8B-NVFP4-REAP50", id="pruned"),
        pytest.param("owner/Tiny-8B-hybrid", id="no format before the way it was made"),
        pytest.param("owner/FP8", id="nothing but a format"),
    ],
)
def test_name_that_says_more_than_a_format_is_whole(model: str) -> None:
    assert base_model(model) == BaseModel(model.rpartition("/")[2].lower(), "")


def test_folder_in_a_hubs_cache_is_a_copy_of_its_repository() -> None:
    revision = "739af1e7aac320af1682ed1e0cce369af4c5265d"
    copy = f"/cache/hub/models--unsloth--Tiny-8B-NVFP4/snapshots/{revision}"

    assert checkpoint_of(copy) == Checkpoint("unsloth/Tiny-8B-NVFP4", revision)
    assert base_model(copy) == BaseModel("tiny-8b", "NVFP4")


def test_repository_is_itself() -> None:
    assert checkpoint_of("owner/Tiny-8B") == Checkpoint("owner/Tiny-8B")
