"""A serving recipe, read and typed: how the engine behind a lane is started.

Two formats are public: version 1 of spark-vllm-docker, and version 2 of sparkrun. What counts is
the argument list that the recipe's command comes to; nothing in a recipe is ever run by a shell.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

from proxy.errors import Place

SERVE: Final = "serve"
# How vLLM's server is started as a module of Python; the second one takes no word `serve`.
VLLM_MODULES: Final = (
    ("vllm.entrypoints.cli.main", SERVE),
    ("vllm.entrypoints.openai.api_server",),
)


def program_name(program: str) -> str:
    """The name of a program without its folder."""
    return program.rpartition("/")[2]


class Version(IntEnum):
    """Formats of recipes."""

    SPARK_VLLM_DOCKER = 1
    SPARKRUN = 2


@dataclass(frozen=True, slots=True)
class Speculation:
    """`--speculative-config` as it is understood. `tokens` counts draft tokens a step.

    `model` is a drafter of its own; MTP drafts with a head of the checkpoint and has none.
    `options` holds the whole configuration, these three included.
    """

    method: str | None
    tokens: int | None
    model: str | None
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What the command tells the engine. None or empty: left to the engine's own default.

    Lengths count tokens. `served_names` are the names clients may ask for, the first one counts.
    """

    model: str | None
    served_names: tuple[str, ...]
    host: str | None
    port: int | None
    max_model_len: int | None
    max_num_seqs: int | None
    max_num_batched_tokens: int | None
    gpu_memory_utilization: float | None
    tensor_parallel: int | None
    pipeline_parallel: int | None
    quantization: str | None
    kv_cache_dtype: str | None
    attention_backend: str | None
    prefix_caching: bool | None
    tool_parser: str | None
    reasoning_parser: str | None
    speculation: Speculation | None


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag of the command. `name` is vLLM's first long spelling, such as `--max-model-len`.

    `spelling` is how it was written; a flag that is not known has it for its name. `values` are
    its words, none for a flag that takes none, `negated` where it was written `--no-…`. The place
    is that of the flag in the file, or of the override. `known`: vLLM knows it.
    """

    name: str
    spelling: str
    values: tuple[str, ...]
    place: Place
    negated: bool = False
    known: bool = True

    @property
    def value(self) -> str | None:
        """Its words with blanks between them; None for a flag that takes none."""
        return " ".join(self.values) if self.values else None

    @property
    def shown(self) -> str:
        """The value as people read it: `on` and `off` for switches."""
        if self.value is None:
            return "off" if self.negated else "on"
        return self.value


@dataclass(frozen=True, slots=True)
class Argument:
    """One word of the argument list, and where it stands in the file."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Command:
    """What the command comes to, with every placeholder filled in.

    `program` is what it starts with (`vllm serve`), `words` all that follows, the model first
    where it stands there. `before` are the words before the program, which only a shell would obey:
    assignments, and programs that start others. `written` are the flags in the order in which they
    stand; `flags` what counts of them by name: the last one of each, as vLLM reads them, and dotted
    ones (`--speculative-config.method mtp`) joined to one JSON document that replaces what was
    written whole. `model` is what is loaded; `stray` are words that belong to no flag.
    """

    program: tuple[str, ...]
    words: tuple[Argument, ...]
    model: str | None
    written: tuple[Flag, ...]
    flags: Mapping[str, Flag]
    stray: tuple[Argument, ...] = ()
    before: tuple[str, ...] = ()

    @property
    def arguments(self) -> tuple[str, ...]:
        """The words behind the program, one entry each."""
        return tuple(word.text for word in self.words)

    @property
    def is_vllm(self) -> bool:
        """Whether vLLM's own server is started: by any path, as a module, behind other words."""
        is_module = any(self.program[-len(module) :] == module for module in VLLM_MODULES)
        return is_module or self.is_vllm_serve

    @property
    def is_vllm_serve(self) -> bool:
        """Whether the program is `vllm serve`, by any path."""
        match self.program:
            case (program, "serve"):
                return program_name(program) == "vllm"
            case _:
                return False


@dataclass(frozen=True, slots=True)
class Recipe:
    """How an engine is started.

    `defaults` are the values of placeholders as text, overrides laid over them; `environment` is
    what the engine gets beside its own. `hooks` names the keys that would run something on the
    host or in the container beside the command; they are never run. `hash` is the start of the
    SHA-256 of the file's bytes. `beside` holds keys that say how the image is built or run, by
    name as text, JSON where they are no text; nothing acts upon them.
    """

    name: str
    version: Version
    description: str
    model: str
    model_revision: str | None
    runtime: str
    container: str | None
    mods: tuple[str, ...]
    hooks: tuple[str, ...]
    min_nodes: int | None
    max_nodes: int | None
    defaults: Mapping[str, str]
    environment: Mapping[str, str]
    command: Command
    engine: EngineSettings
    file: Path
    hash: str
    runtime_version: str | None = None
    beside: Mapping[str, str] = field(default_factory=dict)
