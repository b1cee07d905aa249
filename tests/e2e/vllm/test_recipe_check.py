"""Recipes checked with the parser of the real vLLM. No engine is started."""

from pathlib import Path

import pytest

from proxy.data_files import recipes_folder
from proxy.recipes.check.check import check_recipe
from proxy.recipes.check.finding import Severity
from proxy.recipes.vllm.facts import pinned_facts
from proxy.recipes.vllm.installed import InstalledVllm, find_vllm
from tests.engines.environment import VllmEnvironment
from tests.recipes.made import written

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def installed(vllm_0_32: VllmEnvironment) -> InstalledVllm:
    found = find_vllm(vllm_0_32.python, vllm_0_32.variables())
    assert found is not None
    return found


def errors(path: Path, installed: InstalledVllm) -> dict[tuple[str, int, int], str]:
    """The message of each error by its code, line and column."""
    findings = check_recipe(path, (), pinned_facts(), installed)
    return {
        (each.code, each.place.line, each.place.column): each.message
        for each in findings
        if each.severity is Severity.ERROR
    }


def test_promoted_recipe_passes(installed: InstalledVllm) -> None:
    path = recipes_folder() / "qwen3.6-35b-a3b-fp8-mtp1-flashinfer.yaml"

    assert errors(path, installed) == {}


@pytest.mark.parametrize(
    ("flags", "ours", "theirs"),
    [
        pytest.param(
            "--max-num-seqs x",
            ("not-a-number", 2, 40),
            "argument --max-num-seqs: invalid int value: 'x'",
            id="no number",
        ),
        pytest.param(
            "--kv-cache-dtype fp9",
            ("not-a-choice", 2, 42),
            "argument --kv-cache-dtype: invalid choice: 'fp9'",
            id="no choice",
        ),
        pytest.param(
            "--zzz", ("unknown-flag", 2, 25), "unrecognized arguments: --zzz", id="unknown flag"
        ),
        pytest.param(
            "--enable-auto-tool-choice",
            ("tool-parser-missing", 2, 25),
            "--enable-auto-tool-choice requires --tool-call-parser",
            id="no parser",
        ),
        pytest.param(
            "--speculative-config '{'",
            ("not-json", 2, 48),
            "Value { cannot be converted to <function loads>.",
            id="no JSON",
        ),
    ],
)
def test_vllm_refuses_what_the_pinned_facts_refuse(
    tmp_path: Path,
    installed: InstalledVllm,
    flags: str,
    ours: tuple[str, int, int],
    theirs: str,
) -> None:
    text = f'recipe_version: "2"\ncommand: vllm serve a/b {flags}\n'

    found = errors(written(tmp_path, text), installed)

    assert ours in found
    assert theirs in found["refused-by-vllm", 2, 25]
