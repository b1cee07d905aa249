"""A recipe of a tiny MTP1 engine as a file, and what a server that runs it shows of itself."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

MTP1_FLAGS: Final = (
    "--served-model-name tiny --max-model-len 2048 --max-num-seqs 3 --kv-cache-dtype fp8 "
    "--enable-prefix-caching --gpu-memory-utilization 0.7 --attention-backend flashinfer "
    """--speculative-config '{"method":"mtp","num_speculative_tokens":1}'"""
)
MTP1_FACTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "vllm": "0.32.0",
        "model": "tiny",
        "root": "owner/tiny",
        "max_model_len": "2048",
        "cache_dtype": "fp8",
        "enable_prefix_caching": "True",
        "gpu_memory_utilization": "0.7",
        "speculative": "True",
        "speculative_tokens": "1",
    }
)


def write_recipe(folder: Path, flags: str = MTP1_FLAGS, model: str = "owner/tiny") -> Path:
    """A file of version 1, whose command is `vllm serve` with these flags."""
    return _written(folder, f"vllm serve {model} {flags}", model)


def write_foreign_recipe(folder: Path) -> Path:
    """A file of version 2 for an engine that is not vLLM."""
    return _written(folder, "sglang serve --served-model-name tiny", "owner/tiny", version="2")


def _written(folder: Path, command: str, model: str, version: str = "1") -> Path:
    path = folder / "tiny-mtp1.yaml"
    lines = (
        f'recipe_version: "{version}"',
        "name: tiny-mtp1",
        f"model: {model}",
        "container: vllm/vllm-openai:v0.32.0",
        f"command: |\n  {command}",
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
