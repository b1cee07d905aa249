from pathlib import Path
from typing import Final

import pytest

from tests.recipes.checked import FIRST, codes, found

SERVE: Final = "command: vllm serve a/b\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            f"{FIRST}command: vllm serve a/b --headless\n",
            "4:25 note: `recipe up` refuses this: `--headless` cannot be launched "
            "(a headless node answers no requests; start the head)",
            id="no address",
        ),
        pytest.param(
            f"{FIRST}mods: [mods/x]\n{SERVE}",
            "4:1 note: `recipe up` refuses this: mods are patches of a container and not applied: "
            "mods/x (use the container (`--docker` prints its command), or add `--ignore-mods`)",
            id="mods",
        ),
        pytest.param(
            f"{FIRST}cluster_only: true\n{SERVE}",
            "4:15 note: `recipe up` refuses this: the recipe needs 2 machines, and this is one "
            "(use sparkrun or spark-vllm-docker for clusters)",
            id="several machines",
        ),
    ],
)
def test_what_is_not_launched_is_a_note(tmp_path: Path, text: str, expected: str) -> None:
    assert found(tmp_path, text, "not-launched") == [expected]


def test_variable_that_steers_more_than_vllm_is_a_warning(tmp_path: Path) -> None:
    text = f"{FIRST}env: {{LD_PRELOAD: /x}}\n{SERVE}"

    assert found(tmp_path, text, "steering-variable") == [
        (
            "4:7 warning: `recipe up` refuses this: `env.LD_PRELOAD` decides what code runs beside "
            "vLLM's own, and a recipe must not (set it yourself before the start, or add "
            "`--allow-env LD_PRELOAD`)"
        )
    ]


def test_code_from_outside_is_a_note(tmp_path: Path) -> None:
    text = f"{FIRST}command: vllm serve a/b --trust-remote-code\n"

    assert found(tmp_path, text, "outside-code") == [
        (
            "4:10 note: code from outside vLLM is run or loaded: --trust-remote-code "
            "(see that you trust where it comes from)"
        )
    ]


def test_other_engine_is_told_once(tmp_path: Path) -> None:
    told = codes(tmp_path, f"{FIRST}command: sglang serve a/b\n")

    assert "other-engine" in told
    assert "not-launched" not in told


def test_plain_recipe_has_none_of_them(tmp_path: Path) -> None:
    told = codes(tmp_path, f"{FIRST}{SERVE}")

    assert not {"not-launched", "steering-variable", "outside-code"} & told


def test_vllm_as_a_module_of_python_is_told(tmp_path: Path) -> None:
    text = f"{FIRST}command: python3 -m vllm.entrypoints.cli.main serve a/b\n"

    assert found(tmp_path, text, "not-launched") == [
        (
            "4:10 note: `recipe up` refuses this: the command starts `python3 -m "
            "vllm.entrypoints.cli.main serve`, and only `vllm serve` can be launched (begin it "
            "with `vllm serve MODEL`, or use what made the recipe)"
        )
    ]
