"""The pinned facts and the probe against the real vLLM. No engine is started."""

import json
from pathlib import Path
from typing import Final

import pytest

from proxy.recipes.vllm import facts as vllm_facts
from proxy.recipes.vllm.facts import pinned_facts
from proxy.recipes.vllm.installed import InstalledVllm, find_vllm
from tests.engines.environment import VllmEnvironment

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300)]

FOLDER: Final = Path(vllm_facts.__file__).parent
PROMOTED: Final = (
    "Qwen/Qwen3.6-35B-A3B-FP8",
    *("--served-model-name", "Qwen/Qwen3.6-35B-A3B-FP8"),
    *("--quantization", "fp8"),
    "--language-model-only",
    *("--max-model-len", "262144"),
    *("--gpu-memory-utilization", "0.70"),
    *("--max-num-batched-tokens", "16384"),
    *("--max-num-seqs", "4"),
    *("--kv-cache-dtype", "fp8"),
    "--enable-prefix-caching",
    "--enable-auto-tool-choice",
    *("--tool-call-parser", "qwen3_coder"),
    *("--reasoning-parser", "qwen3"),
    *("--speculative-config", '{"method":"mtp","num_speculative_tokens":1}'),
    *("--attention-backend", "flashinfer"),
    *("--port", "8000"),
    *("--host", "0.0.0.0"),
)


@pytest.fixture(scope="module")
def installed(vllm_0_32: VllmEnvironment) -> InstalledVllm:
    found = find_vllm(vllm_0_32.python, vllm_0_32.variables())
    assert found is not None
    return found


def test_pinned_file_is_what_this_vllm_says(vllm_0_32: VllmEnvironment) -> None:
    printed = vllm_0_32.run("-I", FOLDER / "probe.py", "facts")

    assert printed == (FOLDER / "data" / "vllm-0.32.0.json").read_text()


def test_program_of_the_environment_tells_its_python(vllm_0_32: VllmEnvironment) -> None:
    program = vllm_0_32.folder / "bin" / "vllm"

    found = find_vllm(program, vllm_0_32.variables())

    assert found is not None
    assert found.python.samefile(vllm_0_32.python)
    assert found.program == (str(program),)


def test_fields_of_a_configuration_are_held_against_vllm_s_own(installed: InstalledVllm) -> None:
    answer = installed.check(["model", "--attention-config.backend", "nope"])

    assert "argument --attention-config/-ac: " in (answer.error or "")
    assert answer.version == pinned_facts().version


def test_parser_takes_spellings_as_the_facts_module_says(installed: InstalledVllm) -> None:
    spellings = [
        *("--max_model_len=8k", "-tp=2", "-qfp8", "-O3", "--no_enable_prefix_caching"),
        *("--speculative_config.method", "mtp", "-cc.mode=3", "--max-num-batched", "1K"),
        *("--moe-backend", "DEEP-GEMM", "--hf-overrides", "text", "--max-num-active-seqs", "None"),
    ]

    assert installed.check(["model", *spellings]).error is None


@pytest.mark.parametrize(
    "arguments",
    [["--enable-prefix-caching=true"], ["-tp2"], ["--max-num-seqs", "8k"]],
    ids=["value of a switch", "glued value", "suffix"],
)
def test_parser_refuses_spellings_as_the_facts_module_says(
    arguments: list[str], installed: InstalledVllm
) -> None:
    assert installed.check(["model", *arguments]).error is not None


def test_module_in_a_compilation_config_is_not_imported(installed: InstalledVllm) -> None:
    # The key is spelled so that nobody finds it by looking at the text.
    escaped = '{"\\u0069nductor_passes": {"p": "antigravity.x"}}'

    answer = installed.check(["model", "--compilation-config", escaped])

    assert answer.error is None
    assert "it would have imported `antigravity`" in answer.skipped[0]


def test_plugins_are_not_run(installed: InstalledVllm, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin.py"
    plugin.write_text(f"open({json.dumps(str(tmp_path / 'ran'))}, 'w')\n")
    named = ("--tool-parser-plugin", str(plugin), "--reasoning-parser-plugin", str(plugin))

    answer = installed.check([*PROMOTED, *named, "--trust-remote-code"])

    assert (answer.error, answer.skipped) == (None, ())
    assert not (tmp_path / "ran").exists()
