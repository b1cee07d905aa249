import pytest

from proxy.data_files import recipes_folder
from proxy.recipes.compare.switch_groups import (
    EFFECTS,
    Effect,
    Group,
    effects_of,
    group_of_flag,
    group_of_variable,
)
from proxy.recipes.reading import read_recipe


@pytest.mark.parametrize(
    ("flag", "group"),
    [
        ("--served-model-name", Group.NAME),
        ("--api-key", Group.ADDRESS),
        ("--quantization", Group.CHECKPOINT),
        ("--trust-remote-code", Group.CHECKPOINT),
        ("--revision", Group.CHECKPOINT),
        ("--kv-cache-dtype", Group.NUMERICS),
        ("--mamba_ssm_cache_dtype", Group.NUMERICS),
        ("--attention-backend", Group.KERNELS),
        ("--enforce-eager", Group.KERNELS),
        ("--compilation-config", Group.KERNELS),
        ("--some-new-backend", Group.KERNELS),
        ("--speculative-config", Group.SPECULATION),
        ("--max-num-batched-tokens", Group.SCHEDULING),
        ("--max-num-seqs", Group.SCHEDULING),
        ("--enable-chunked-prefill", Group.SCHEDULING),
        ("--async-scheduling", Group.SCHEDULING),
        ("--gpu-memory-utilization", Group.MEMORY),
        ("--max-model-len", Group.MEMORY),
        ("--enable-prefix-caching", Group.MEMORY),
        ("--tensor-parallel-size", Group.PARALLELISM),
        ("--distributed-executor-backend", Group.PARALLELISM),
        ("--tool-call-parser", Group.SURFACE),
        ("--enable-auto-tool-choice", Group.SURFACE),
        ("--reasoning-parser", Group.SURFACE),
        ("--chat-template", Group.SURFACE),
        ("--load-format", Group.LOADING),
        ("--something-else", Group.OTHER),
    ],
)
def test_flag_belongs_to_a_group(flag: str, group: Group) -> None:
    assert group_of_flag(flag) is group


@pytest.mark.parametrize(
    ("variable", "group"),
    [
        ("HF_TOKEN", Group.ADDRESS),
        ("HF_HUB_OFFLINE", Group.LOADING),
        ("NCCL_IB_DISABLE", Group.PARALLELISM),
        ("PYTORCH_CUDA_ALLOC_CONF", Group.MEMORY),
        ("VLLM_USE_FLASHINFER_SAMPLER", Group.KERNELS),
        ("VLLM_MTP_INDEX_SHARE", Group.SPECULATION),
        ("SOMETHING", Group.OTHER),
    ],
)
def test_variable_belongs_to_a_group(variable: str, group: Group) -> None:
    assert group_of_variable(variable) is group


def test_no_switch_of_a_shipped_recipe_is_left_over() -> None:
    recipes = [read_recipe(path) for path in sorted(recipes_folder().glob("qwen*.yaml"))]

    flags = {group_of_flag(name) for recipe in recipes for name in recipe.command.flags}
    variables = {group_of_variable(name) for recipe in recipes for name in recipe.environment}

    assert recipes
    assert Group.OTHER not in flags | variables


def test_address_and_name_alone_do_not_count() -> None:
    assert {group for group in Group if not group.counts} == {Group.ADDRESS, Group.NAME}


def test_prefix_caching_may_move_quality_unlike_other_memory() -> None:
    caching = effects_of("--enable-prefix-caching", Group.MEMORY)

    assert Effect.QUALITY in caching
    assert Effect.QUALITY not in effects_of("--max-model-len", Group.MEMORY)


def test_numbers_that_are_computed_otherwise_may_move_quality() -> None:
    moving = {group for group in Group if Effect.QUALITY in EFFECTS[group]}

    assert moving == {
        *(Group.CHECKPOINT, Group.NUMERICS, Group.KERNELS, Group.SPECULATION),
        *(Group.SURFACE, Group.BUILD),
    }
