from pathlib import Path

import pytest

from proxy.errors import Place
from tests.recipes.made import problems_of, recipe_of

TEXT = """\
recipe_version: "1"
name: r
model: a/b
container: c
defaults: {port: 8000, unused: 1, max_num_seqs: 4}
command: vllm serve a/b --port {port} --host {host} --max-model-len 1024
"""


def test_override_fills_a_placeholder(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, TEXT, "port=8001", "host=::1")

    assert recipe.command.arguments[:5] == ("a/b", "--port", "8001", "--host", "::1")
    assert recipe.defaults["port"] == "8001"
    assert recipe.engine.port == 8001


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        pytest.param("max_model_len=2048", ["--max-model-len=2048"], id="a value"),
        pytest.param("max-model-len=2048", ["--max-model-len=2048"], id="hyphens"),
        pytest.param("max_num_seqs=8", ["--max-num-seqs=8"], id="a default that nothing uses"),
        pytest.param("enforce_eager=true", ["--enforce-eager"], id="switched on"),
        pytest.param(
            "enable_prefix_caching=off", ["--no-enable-prefix-caching"], id="switched off"
        ),
        pytest.param(
            "served_model_name=a b", ["--served-model-name", "a", "b"], id="several words"
        ),
        pytest.param(
            'speculative_config={"method":"mtp"}',
            ['--speculative-config={"method":"mtp"}'],
            id="JSON stays one word",
        ),
    ],
)
def test_override_sets_a_flag_behind_all_others(
    tmp_path: Path, override: str, expected: list[str]
) -> None:
    recipe = recipe_of(tmp_path, TEXT, "host=h", override)

    assert list(recipe.command.arguments)[7:] == expected


def test_flag_of_an_override_stands_at_the_option(tmp_path: Path) -> None:
    recipe = recipe_of(tmp_path, TEXT, "host=h", "max_model_len=2048")

    flag = recipe.command.flags["--max-model-len"]
    assert (flag.value, flag.place) == ("2048", Place("--set max_model_len"))


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        (
            "model=c/d",
            (
                "--set model: the model is a word of the command, and no flag "
                "(write `{model}` in its place there)"
            ),
        ),
        ("port", "--set: `port` is no `key=value` (write --set port=8001)"),
        ("=1", "--set: `=1` is no `key=value` (write --set port=8001)"),
        (
            "prot=1",
            (
                "--set prot: no placeholder of the command, and no flag of vLLM 0.32.0, is named "
                "`prot` (did you mean `port`?)"
            ),
        ),
        (
            "qqqqqqq=1",
            (
                "--set qqqqqqq: no placeholder of the command, and no flag of vLLM 0.32.0, is "
                "named `qqqqqqq` (placeholders are host, port)"
            ),
        ),
        (
            "enforce_eager=maybe",
            "--set enforce_eager: `enforce_eager` must be true or false (see `vllm serve --help`)",
        ),
        (
            "headless=false",
            "--set headless: `headless` cannot be switched off (see `vllm serve --help`)",
        ),
        (
            "served_model_name=-x",
            (
                "--set served_model_name: `served_model_name` must be words with blanks between "
                "them (see `vllm serve --help`)"
            ),
        ),
    ],
)
def test_bad_override_is_told(tmp_path: Path, override: str, expected: str) -> None:
    assert problems_of(tmp_path, TEXT, "host=h", override) == [expected]
