import dataclasses
import json
import shlex
from pathlib import Path

import pytest

from proxy.errors import RecipeError
from proxy.recipes.reading import read_recipe
from proxy.recipes.show.secrets import MASK
from proxy.recipes.show.show import ShowForm, show_file, show_lines
from tests.recipes.served import served

TEXT = """\
recipe_version: "2"
name: tiny-mtp1
description: A tiny engine
model: owner/Tiny-8B-FP8
env:
  VLLM_USE_DEEP_GEMM: "0"
defaults:
  port: 8000
  host: 0.0.0.0
command: |
  vllm serve {model} \\
    --port {port} --host {host} \\
    --max-num-seqs 4 \\
    --speculative-config '{"method":"mtp","num_speculative_tokens":1}'
"""


def test_table_tells_group_switch_place_and_value(tmp_path: Path) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text(TEXT)

    overrides = ("enable_prefix_caching=true", "host=127.0.0.1")
    lines = list(show_file(path, overrides, ShowForm.TABLE))

    assert [line.replace(str(path), "tiny.yaml") for line in lines] == [
        "tiny-mtp1",
        "  A tiny engine",
        "  model        owner/Tiny-8B-FP8",
        "  speculation  mtp, 1 draft token a step, from a head of the checkpoint",
        f"  file         tiny.yaml, version 2 (sparkrun), hash {read_recipe(path).hash}",
        "",
        "group        switch                   from                         value",
        "checkpoint   model                    line 11                      owner/Tiny-8B-FP8",
        "kernels      VLLM_USE_DEEP_GEMM       line 6                       0",
        "speculation  speculation method       line 14                      mtp",
        "             speculation tokens       line 14                      1",
        "scheduling   --max-num-seqs           line 13                      4",
        "memory       --enable-prefix-caching  --set enable_prefix_caching  on",
        "build        runtime                  line 1                       vllm",
        "address      --port                   line 8                       8000",
        "             --host                   --set host                   127.0.0.1",
    ]


def test_file_with_problems_is_refused_with_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text("recipe_version: 3\nmodel: a/b\n")

    with pytest.raises(RecipeError) as caught:
        list(show_file(path, ("nonsense",), ShowForm.TABLE))

    assert len(caught.value.problems) == 3


def test_table_masks_secrets_and_what_could_steer_a_terminal() -> None:
    recipe = served("--api-key top-secret-1 two --chat-template x-top-secret-1")
    recipe = dataclasses.replace(recipe, name="a\x1b[2J", description="b\x1b[2J")

    lines = list(show_lines(recipe, ShowForm.TABLE))

    text = "\n".join(lines)
    assert lines[0] == r"a\x1b[2J"
    assert "top-secret-1" not in text
    assert " two" not in text
    assert text.count(MASK) == 2
    assert all(line.isprintable() for line in lines)


def test_long_description_is_wrapped() -> None:
    recipe = dataclasses.replace(served(), description="word " * 60)

    lines = list(show_lines(recipe, ShowForm.TABLE))

    assert max(map(len, lines[1:4])) <= 100
    assert all(line.startswith("  word") for line in lines[1:4])


@pytest.mark.parametrize("form", [ShowForm.COMMAND, ShowForm.COMMAND_LINE])
def test_forms_for_running_hold_secrets_as_they_are(form: ShowForm) -> None:
    lines = show_lines(served("--api-key top-secret-1"), form)

    words = shlex.split(" ".join(line.removesuffix("\\") for line in lines))
    assert words == ["vllm", "serve", "owner/Tiny-8B-FP8", "--api-key", "top-secret-1"]


def test_environment_is_for_running_too() -> None:
    recipe = served(keys="env: {HF_TOKEN: hf_0123456789}")

    assert list(show_lines(recipe, ShowForm.ENVIRONMENT)) == ["HF_TOKEN='hf_0123456789'"]


def test_json_is_one_document() -> None:
    (text,) = show_lines(served(), ShowForm.JSON)

    assert json.loads(text)["name"] == "tiny"


@pytest.mark.parametrize("form", [ShowForm.COMMAND, ShowForm.COMMAND_LINE])
def test_command_that_a_shell_would_read_otherwise_is_not_shown_for_running(
    tmp_path: Path, form: ShowForm
) -> None:
    path = tmp_path / "cut.yaml"
    path.write_text("model: a/b\ncommand: vllm serve a/b > log\n")

    with pytest.raises(RecipeError, match="would redirect"):
        list(show_file(path, (), form))

    assert list(show_file(path, (), ShowForm.TABLE))
