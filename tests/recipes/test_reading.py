import hashlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.data_files import recipes_folder
from proxy.errors import RecipeError
from proxy.recipes.reading import open_recipe, read_recipe
from proxy.recipes.recipe import Version
from tests.recipes.made import problems_of, reading_of, recipe_of, written

SHIPPED = "qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml"
SECOND = """\
recipe_version: "2"
model: a/b
model_revision: 0123abc
runtime: vllm-ray
runtime_version: v0.26.0-gb10.2
container: image:latest
min_nodes: 2
mods: [mods/one]
pre_exec: [mkdir -p /cache]
metadata: {description: words}
defaults: {port: 8000, speculative_config: '{"method": "mtp", "num_speculative_tokens": 2}'}
env: {VLLM_X: "1"}
command: |
  vllm serve {model} \\
    --port {port} \\
    --speculative-config '{speculative_config}'
"""


def test_promoted_recipe_is_read() -> None:
    path = recipes_folder() / SHIPPED

    recipe = read_recipe(path)

    assert recipe.name.startswith("qwen3.6-35b-a3b-fp8")
    assert recipe.version is Version.SPARK_VLLM_DOCKER
    assert recipe.model == recipe.engine.model == "Qwen/Qwen3.6-35B-A3B-FP8"
    assert recipe.engine.max_num_seqs == 4
    assert recipe.engine.max_model_len == 262144
    assert recipe.max_nodes == 1
    assert recipe.environment["VLLM_USE_DEEP_GEMM"] == "0"
    assert recipe.engine.speculation is not None
    assert recipe.engine.speculation.tokens == 1
    assert len(recipe.command.program) + len(recipe.command.arguments) == 32
    assert all(flag.known for flag in recipe.command.flags.values())
    assert recipe.file == path
    assert recipe.hash == hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def test_recipe_without_its_backslashes_comes_to_the_same(tmp_path: Path) -> None:
    promoted = recipes_folder() / SHIPPED
    broken = written(tmp_path, promoted.read_text().replace("\\\n", "\n"))

    assert read_recipe(broken).command.arguments == read_recipe(promoted).command.arguments


def test_second_format_is_read(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, SECOND)

    assert recipe.version is Version.SPARKRUN
    assert (recipe.name, recipe.description) == ("r", "words")
    assert (recipe.model, recipe.model_revision) == ("a/b", "0123abc")
    assert (recipe.runtime, recipe.container) == ("vllm-ray", "image:latest")
    assert recipe.runtime_version == "v0.26.0-gb10.2"
    assert (recipe.min_nodes, recipe.max_nodes) == (2, None)
    assert (recipe.mods, recipe.hooks) == (("mods/one",), ("pre_exec",))
    assert recipe.command.arguments == (
        *("a/b", "--port", "8000"),
        *("--speculative-config", '{"method": "mtp", "num_speculative_tokens": 2}'),
    )


def test_smallest_recipe_leaves_all_else_open(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, "recipe_version: 1\ncommand: vllm serve a/b\ndefaults:\n")

    assert (recipe.name, recipe.model, recipe.runtime) == ("r", "a/b", "vllm")
    assert recipe.container is None
    assert recipe.defaults == recipe.environment == {}
    assert recipe.engine.max_num_seqs is None


def test_of_a_repeated_key_the_last_counts_as_for_other_readers(tmp_path: Path) -> None:
    reading = reading_of(tmp_path, "command: vllm serve a\ncontainer: x\ncontainer: y\n")

    assert reading.recipe is not None
    assert reading.recipe.container == "y"
    assert len(reading.document.repeated) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "command: vllm serve --port 1",
            "r.yaml:1:1: no model is named (add `model: owner/name`, or name it in the command)",
            id="no model",
        ),
        pytest.param(
            "- a",
            "r.yaml:1:1: the file must be a mapping of keys and values (write `key: value` lines)",
            id="a list",
        ),
        pytest.param(
            "null",
            "r.yaml:1:1: the file must be a mapping of keys and values (write `key: value` lines)",
            id="nothing",
        ),
        pytest.param(
            "a: [1",
            "r.yaml:2:1: not YAML: did not find expected ',' or ']' while parsing a flow sequence "
            "(check indentation, brackets and quotes from r.yaml:1:4 on)",
            id="not YAML",
        ),
        pytest.param(
            "a: &x [1]\nb: *x\ncommand: vllm serve m",
            "r.yaml:2:4: the alias `*x` is not allowed (write the value out)",
            id="alias",
        ),
        pytest.param(
            "command: !!python/object/apply:os.system [touch x]",
            "r.yaml:1:10: the tag `!!python/object/apply:os.system` is not allowed "
            "(remove the tag)",
            id="tag",
        ),
        pytest.param(
            "command: vllm serve m #" + "x" * 10_000_000,
            "r.yaml: the file is larger than 1 MiB (a configuration file is small; split it)",
            id="ten megabytes",
        ),
    ],
)
def test_file_that_cannot_be_read_is_told(tmp_path: Path, text: str, expected: str) -> None:
    assert problems_of(tmp_path, text)[0] == expected
    with pytest.raises(RecipeError):
        read_recipe(tmp_path / "r.yaml")


def test_absent_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="there is no such file"):
        read_recipe(tmp_path / "absent.yaml")


def test_every_problem_is_told(tmp_path: Path) -> None:
    text = "recipe_version: 9\nmods: 1\ncommand: vllm serve m --port x --max-num-seqs y"

    assert [problem.split(": ")[0] for problem in problems_of(tmp_path, text)] == [
        "r.yaml:1:17",
        "r.yaml:3:23",
        "r.yaml:3:32",
        "r.yaml:2:7",
    ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    command=st.text(alphabet="ab-{}'\"\\ \n$;=,.:1[]", max_size=60),
    value=st.text(max_size=30),
    version=st.sampled_from([1, 2]),
)
def test_any_text_is_read_or_refused(
    tmp_path: Path, command: str, value: str, version: int
) -> None:
    lines = "".join(f"\n  {line}" for line in ["vllm serve m", *command.split("\n")])
    quoted = value.replace("'", "''")
    text = f"recipe_version: {version}\ndefaults: {{a: '{quoted}'}}\ncommand: |{lines}\n"

    reading = open_recipe(written(tmp_path, text))

    assert reading.recipe is not None or reading.problems
