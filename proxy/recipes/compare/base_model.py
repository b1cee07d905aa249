"""Which model a checkpoint is of: the name without its owner and its quantisation format."""

import re
from dataclasses import dataclass
from typing import Final

_FORMATS: Final = frozenset(
    {
        *("fp4", "fp8", "nvfp4", "mxfp4", "mxfp8", "int4", "int8", "4bit", "8bit", "bf16", "fp16"),
        *("w4a4", "w4a8", "w4a16", "w8a8", "w8a16"),
        *("awq", "gptq", "gguf", "aqlm", "bnb", "exl2", "exl3", "autoround", "quark"),
    }
)
# They say how a format was made, and mean nothing without one before them.
_MAKERS: Final = frozenset(
    {"dynamic", "static", "block", "hybrid", "mixed", "marlin", "modelopt", "v2", "gs128", "g128"}
)
_HUB_COPY: Final = re.compile(r"(?:^|/)models--([^/]+?)--([^/]+)(?:/snapshots/([0-9a-f]{7,40}))?")


@dataclass(frozen=True, slots=True)
class BaseModel:
    """A model's name in lower case, and its format as written; empty where none is in the name."""

    name: str
    format: str


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A repository `owner/name` and, where a copy of it is named, the copy's revision."""

    repository: str
    revision: str | None = None


def checkpoint_of(model: str) -> Checkpoint:
    """What a model's name stands for: a folder in a model hub's cache names its repository."""
    if copy := _HUB_COPY.search(model):
        owner, name, revision = copy.groups()
        return Checkpoint(f"{owner}/{name}", revision)
    return Checkpoint(model)


def base_model(model: str) -> BaseModel:
    """Take a repository's name or a path apart: `Qwen/Qwen3.6-35B-A3B-FP8` is a `qwen3.6-35b-a3b`.

    A rule on names, not knowledge: another maker's checkpoint of a model counts as that model,
    a pruned or further trained one does not, since its name says more than a format.
    """
    repository = checkpoint_of(model).repository
    parts = repository.rstrip("/").rpartition("/")[2].split("-")
    for index in range(1, len(parts)):
        if _is_format(parts[index:]):
            return BaseModel("-".join(parts[:index]).lower(), "-".join(parts[index:]))
    return BaseModel("-".join(parts).lower(), "")


def _is_format(parts: list[str]) -> bool:
    first, *others = (part.lower() for part in parts)
    return first in _FORMATS and all(part in _FORMATS | _MAKERS for part in others)
