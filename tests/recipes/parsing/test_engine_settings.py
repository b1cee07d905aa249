from pathlib import Path

import pytest

from proxy.recipes.recipe import EngineSettings, Speculation
from tests.recipes.made import problems_of, recipe_of

TEXT = """\
recipe_version: "1"
name: r
model: a/b
container: c
env: {env}
command: vllm serve a/b {arguments}
"""


def settings_of(folder: Path, arguments: str, env: str = "{}") -> EngineSettings:
    text = TEXT.replace("{arguments}", arguments).replace("{env}", env)
    return recipe_of(folder, text).engine


def test_nothing_is_guessed(tmp_path: Path) -> None:
    assert settings_of(tmp_path, "") == EngineSettings(
        model="a/b",
        served_names=("a/b",),
        host=None,
        port=None,
        max_model_len=None,
        max_num_seqs=None,
        max_num_batched_tokens=None,
        gpu_memory_utilization=None,
        tensor_parallel=None,
        pipeline_parallel=None,
        quantization=None,
        kv_cache_dtype=None,
        attention_backend=None,
        prefix_caching=None,
        tool_parser=None,
        reasoning_parser=None,
        speculation=None,
    )


def test_every_setting_is_typed(tmp_path: Path) -> None:
    arguments = (
        "--served-model-name x y --host 0.0.0.0 --port 8000 --max-model-len 256K --max-num-seqs 4 "
        "--max-num-batched-tokens 8k --gpu-memory-utilization .7 -tp 2 -pp 3 -q fp8 "
        "--kv-cache-dtype fp8 --attention-backend flashinfer --no-enable-prefix-caching "
        "--tool-call-parser qwen3_coder --reasoning-parser qwen3 -sc.method=mtp -sc.model=d "
        "-sc.num_speculative_tokens=3"
    )

    assert settings_of(tmp_path, arguments) == EngineSettings(
        model="a/b",
        served_names=("x", "y"),
        host="0.0.0.0",
        port=8000,
        max_model_len=262144,
        max_num_seqs=4,
        max_num_batched_tokens=8000,
        gpu_memory_utilization=0.7,
        tensor_parallel=2,
        pipeline_parallel=3,
        quantization="fp8",
        kv_cache_dtype="fp8",
        attention_backend="flashinfer",
        prefix_caching=False,
        tool_parser="qwen3_coder",
        reasoning_parser="qwen3",
        speculation=Speculation(
            "mtp", 3, "d", {"method": "mtp", "model": "d", "num_speculative_tokens": 3}
        ),
    )


@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        pytest.param("--attention-backend X", "{VLLM_ATTENTION_BACKEND: Y}", id="flag first"),
        pytest.param("""--attention-config '{"backend":"X"}'""", "{}", id="configuration"),
        pytest.param("--attention-config.backend X", "{}", id="dotted"),
        pytest.param("--attention-backend auto", "{VLLM_ATTENTION_BACKEND: X}", id="variable"),
    ],
)
def test_attention_backend_is_found_wherever_it_is_pinned(
    tmp_path: Path, arguments: str, env: str
) -> None:
    text = TEXT.replace("{env}", env).replace("vllm serve a/b {arguments}", "|\n  vllm serve a/b ")

    assert recipe_of(tmp_path, text + f"  {arguments}\n").engine.attention_backend == "X"


@pytest.mark.parametrize("arguments", ["--max-model-len auto", "--max-model-len=-1", "-q None", ""])
def test_what_is_left_to_the_engine_is_none(tmp_path: Path, arguments: str) -> None:
    settings = settings_of(tmp_path, arguments)

    assert settings.max_model_len is None
    assert settings.quantization is None


def test_flags_of_speculation_are_keys_of_its_configuration(tmp_path: Path) -> None:
    arguments = "--spec-method mtp --spec-tokens 2 -sc.model=d"

    assert settings_of(tmp_path, arguments).speculation == Speculation(
        "mtp", 2, "d", {"method": "mtp", "num_speculative_tokens": 2, "model": "d"}
    )


@pytest.mark.parametrize("value", ["'{}'", "None", "'{\"method\":5}'"])
def test_speculation_that_says_nothing_has_no_method(tmp_path: Path, value: str) -> None:
    text = TEXT.replace("{env}", "{}").replace("vllm serve a/b {arguments}", "|\n  vllm serve a/b ")

    speculation = recipe_of(tmp_path, text + f"  --speculative-config {value}\n").engine.speculation

    assert speculation is None or speculation.method is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--max-num-seqs four", "`--max-num-seqs` must be a whole number above 0; it is `four`"),
        ("--port 65536", "`--port` must be a port from 1 to 65535; it is `65536`"),
        ("--port 0", "`--port` must be a port from 1 to 65535; it is `0`"),
        ("--max-num-seqs 0", "`--max-num-seqs` must be a whole number above 0; it is `0`"),
        (
            "--max-model-len 8KB",
            (
                "`--max-model-len` must be a number of tokens, such as 262144, 256K or 32k; "
                "it is `8KB`"
            ),
        ),
        (
            "--gpu-memory-utilization 80",
            "`--gpu-memory-utilization` must be a share above 0, at most 1; it is `80`",
        ),
        (
            "--gpu-memory-utilization nan",
            "`--gpu-memory-utilization` must be a share above 0, at most 1; it is `nan`",
        ),
        ("-sc [1]", "`--speculative-config` must be a JSON object; it is `[1]`"),
        ("-sc {a}", "`--speculative-config` must be JSON; it is `{a}`"),
    ],
)
def test_value_of_another_type_is_told_at_its_flag(
    tmp_path: Path, arguments: str, expected: str
) -> None:
    text = TEXT.replace("{arguments}", arguments).replace("{env}", "{}")

    (problem,) = problems_of(tmp_path, text)

    assert problem.startswith(f"r.yaml:6:25: {expected} (")
