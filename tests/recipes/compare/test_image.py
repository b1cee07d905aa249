import pytest

from proxy.recipes.compare.image import is_fixed_build


@pytest.mark.parametrize(
    "image",
    [
        "vllm/vllm-openai:v0.32.0",
        "localhost:5000/vllm:v0.32.0",
        f"vllm-node@sha256:{'0' * 64}",
        f"vllm-node:latest@sha256:{'0' * 64}",
        "vllm-node-freshwheels-20260713",
        "owner/vllm:nightly-2026-07-13",
    ],
)
def test_version_digest_or_date_names_a_build(image: str) -> None:
    assert is_fixed_build(image)


@pytest.mark.parametrize(
    "image",
    [
        "vllm-node",
        "localhost:5000/vllm",
        "vllm/vllm-openai:latest",
        "vllm/vllm-openai:nightly",
        "vllm-node-20261399",
    ],
)
def test_name_without_a_tag_or_with_a_moving_one_names_no_build(image: str) -> None:
    assert not is_fixed_build(image)
