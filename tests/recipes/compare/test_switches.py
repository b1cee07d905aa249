import dataclasses
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest

from proxy.data_files import recipes_folder
from proxy.errors import Place
from proxy.recipes.compare.switch_groups import Group
from proxy.recipes.compare.switches import loaded_model, switches_of
from proxy.recipes.parsing.value_origin import Origin, Origins
from proxy.recipes.reading import open_recipe
from proxy.recipes.recipe import Flag, Recipe
from tests.recipes.served import CONTAINER, MODEL, served

PROMOTED = recipes_folder() / "qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml"


def values_of(recipe: Recipe) -> Mapping[str, str]:
    return {name: switch.value for name, switch in switches_of(recipe).items()}


def test_promoted_recipe_is_these_switches_in_the_order_of_their_groups() -> None:
    reading = open_recipe(PROMOTED)
    assert reading.recipe is not None

    switches = switches_of(reading.recipe, reading.document.places)

    assert [(s.name, s.group.value, s.value, s.place.line) for s in switches.values()] == [
        ("model", "checkpoint", "Qwen/Qwen3.6-35B-A3B-FP8", 23),
        ("--quantization", "checkpoint", "fp8", 25),
        ("--kv-cache-dtype", "numerics", "fp8", 31),
        ("VLLM_USE_FLASHINFER_SAMPLER", "kernels", "1", 19),
        ("VLLM_USE_DEEP_GEMM", "kernels", "0", 20),
        ("--attention-backend", "kernels", "flashinfer", 37),
        ("speculation method", "speculation", "mtp", 36),
        ("speculation tokens", "speculation", "1", 36),
        ("--max-num-batched-tokens", "scheduling", "16384", 29),
        ("--max-num-seqs", "scheduling", "4", 30),
        ("--language-model-only", "memory", "on", 26),
        ("--max-model-len", "memory", "262144", 27),
        ("--gpu-memory-utilization", "memory", "0.7", 28),
        ("--enable-prefix-caching", "memory", "on", 32),
        ("--enable-auto-tool-choice", "surface", "on", 33),
        ("--tool-call-parser", "surface", "qwen3_coder", 34),
        ("--reasoning-parser", "surface", "qwen3", 35),
        ("container", "build", "vllm-node-freshwheels-20260713", 6),
        ("runtime", "build", "vllm", 1),
        ("VLLM_ENABLE_CUDAGRAPH_GC", "loading", "1", 18),
        ("--port", "address", "8000", 38),
        ("--host", "address", "0.0.0.0", 39),
        ("--served-model-name", "name", "Qwen/Qwen3.6-35B-A3B-FP8", 24),
    ]


def test_without_places_what_is_no_flag_has_the_file_for_its_place() -> None:
    reading = open_recipe(PROMOTED)
    assert reading.recipe is not None

    switches = switches_of(reading.recipe)

    assert switches["container"].place == Place(str(PROMOTED))
    assert switches["--quantization"].place.line == 25


def test_speculation_is_taken_apart() -> None:
    flags = """--speculative-config '{"num_speculative_tokens": 3, "moe-backend": "triton",
      "method": "dflash", "model": "owner/drafter"}'"""

    values = values_of(served(flags))

    assert [name for name in values if name.startswith("speculation")] == [
        "speculation method",
        "speculation tokens",
        "speculation drafter",
        "speculation moe_backend",
    ]
    assert values["speculation drafter"] == "owner/drafter"


def test_short_flags_of_speculation_are_parts_of_the_same() -> None:
    switches = switches_of(served("--spec-method mtp --spec-tokens 2"))

    assert switches["speculation method"].value == "mtp"
    assert switches["speculation tokens"].meaning == Decimal(2)
    assert switches["speculation method"].place.column == 32
    assert not [name for name in switches if name.startswith("--spec")]


def test_what_only_a_shell_could_tell_is_taken_from_the_key() -> None:
    recipe = served(model=MODEL)
    command = dataclasses.replace(recipe.command, model="${MODEL_DIR}")

    assert loaded_model(dataclasses.replace(recipe, command=command)) == MODEL


def test_folder_in_a_hubs_cache_means_its_repository_at_a_revision() -> None:
    folder = "/cache/models--owner--Tiny-8B-FP8/snapshots/60d8d70770c6"

    switches = switches_of(served(model=folder))

    assert switches["model"].value == folder
    assert switches["model"].meaning == MODEL
    assert switches["revision"].value == "60d8d70770c6"


def test_revision_of_the_flag_counts_before_that_of_the_key() -> None:
    by_key = values_of(served(keys="model_revision: abc"))
    by_flag = values_of(served("--revision def", keys="model_revision: abc"))

    assert (by_key["revision"], by_flag["revision"]) == ("abc", "def")
    assert "--revision" not in by_flag


def test_what_stands_beside_the_command_is_there_where_it_says_something() -> None:
    plain = values_of(served())
    full = values_of(
        served("stray", keys="mods: [mods/a, mods/b]\ncluster_only: true\npre_exec: [echo]")
    )

    assert plain == {"model": MODEL, "container": CONTAINER, "runtime": "vllm"}
    assert full["mods"] == "mods/a, mods/b"
    assert full["hooks"] == "pre_exec"
    assert full["nodes"] == "at least 2"
    assert full["stray words"] == "stray"


def test_words_before_the_program_are_a_switch() -> None:
    recipe = served()
    command = dataclasses.replace(recipe.command, before=("nice", "-n", "5"))

    assert values_of(dataclasses.replace(recipe, command=command))["program"] == "nice -n 5"


def test_program_that_is_not_vllms_is_a_switch() -> None:
    recipe = served()
    command = dataclasses.replace(recipe.command, program=("sglang", "serve"))

    assert values_of(dataclasses.replace(recipe, command=command))["program"] == "sglang serve"


def test_attention_backend_has_one_name_and_the_place_where_it_is_written() -> None:
    by_key = switches_of(served("--attention-config.backend FLASHINFER"))
    by_variable = switches_of(
        served("--attention-backend auto", keys="env: {VLLM_ATTENTION_BACKEND: FLASHINFER}")
    )

    assert by_key["--attention-backend"].value == "FLASHINFER"
    assert by_key["--attention-backend"].place.column == 32
    assert by_variable["--attention-backend"].value == "FLASHINFER"
    assert "VLLM_ATTENTION_BACKEND" not in by_variable


def test_variable_that_a_flag_overrules_keeps_its_own_name() -> None:
    switches = switches_of(
        served("--attention-backend flashinfer", keys="env: {VLLM_ATTENTION_BACKEND: FLASH_ATTN}")
    )

    assert switches["--attention-backend"].value == "flashinfer"
    assert switches["VLLM_ATTENTION_BACKEND"].value == "FLASH_ATTN"


def test_version_of_the_runtime_is_a_switch_of_the_build() -> None:
    switches = switches_of(
        served(keys='runtime_version: "0.32.0"\nbuild_args: [--ref, abc]\nexecutor_config: {a: b}')
    )

    assert switches["runtime version"].group is Group.BUILD
    assert switches["build args"].group is Group.BUILD
    assert switches["executor config"].group is Group.OTHER


def test_variable_cannot_pass_for_another_switch() -> None:
    switches = switches_of(served(keys="env: {model: other, container: other}"))

    assert switches["model"].value == MODEL
    assert switches["variable model"].value == "other"
    assert switches["container"].value == CONTAINER


@pytest.mark.parametrize("spelling", ["--max-num-seqs 4", "--max-num-seqs=4"])
def test_override_that_is_a_flag_names_itself_as_the_place(spelling: str) -> None:
    switches = switches_of(served(spelling, overrides=("max_num_seqs=8",)))

    assert switches["--max-num-seqs"].value == "8"
    assert switches["--max-num-seqs"].place == Place("--set max_num_seqs")


def test_value_has_the_place_that_its_origin_tells() -> None:
    recipe = served("--port 8001")
    flag = recipe.command.flags["--port"]

    switches = switches_of(recipe, origins=Origins({flag: Origin(Place("--set port"))}))

    assert switches["--port"].place == Place("--set port")


def test_speculation_that_is_not_understood_is_one_switch() -> None:
    recipe = served()
    flag = Flag("--speculative-config", "--speculative-config", ("{}",), Place("x", 1, 1))
    command = dataclasses.replace(recipe.command, flags={flag.name: flag})

    switches = switches_of(dataclasses.replace(recipe, command=command))

    assert switches["--speculative-config"].group is Group.SPECULATION


def test_places_are_of_the_recipes_file(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text("model: a/b\nenv:\n  NCCL_NET: IB\ncommand: vllm serve a/b\n")
    reading = open_recipe(path)
    assert reading.recipe is not None

    switches = switches_of(reading.recipe, reading.document.places)

    assert switches["NCCL_NET"].place == Place(str(path), 3, 13)
