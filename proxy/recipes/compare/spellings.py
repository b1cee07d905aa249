"""Switches with several spellings: a key of a JSON flag, or a variable, that is a flag too."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from proxy.recipes.compare.switch_values import json_text
from proxy.recipes.recipe import Flag

# vLLM 0.32.0, EngineArgs.create_engine_config and create_structured_outputs_config.
_KEYS: Final[Mapping[str, Mapping[str, str]]] = {
    "--attention-config": {"backend": "--attention-backend"},
    "--kernel-config": {
        "moe_backend": "--moe-backend",
        "linear_backend": "--linear-backend",
        "sparse_indexer_topk_backend": "--sparse-indexer-topk-backend",
        "enable_flashinfer_autotune": "--enable-flashinfer-autotune",
    },
    "--compilation-config": {
        "cudagraph_capture_sizes": "--cudagraph-capture-sizes",
        "max_cudagraph_capture_size": "--max-cudagraph-capture-size",
    },
    "--structured-outputs-config": {
        "reasoning_parser": "--reasoning-parser",
        "reasoning_parser_plugin": "--reasoning-parser-plugin",
    },
}
# Builds of vLLM before the flag was there read it.
_VARIABLES: Final[Mapping[str, str]] = {"VLLM_ATTENTION_BACKEND": "--attention-backend"}
_OPEN: Final = frozenset({"", "None", "auto"})


@dataclass(frozen=True, slots=True)
class Spelled:
    """A flag by its own name, and the flag that it is written in."""

    flag: Flag
    written: Flag


def spelled_flags(flags: Mapping[str, Flag]) -> Iterator[Spelled]:
    """The flags, with keys of JSON flags under the names of their own flags.

    A key whose flag is set too stays where it is, since the flag counts.
    """
    found = {name: Spelled(flag, flag) for name, flag in flags.items()}
    for name, own_names in _KEYS.items():
        if name in flags and (options := _options(flags[name])):
            del found[name]
            found |= _taken_apart(flags, flags[name], options, own_names)
    yield from found.values()


def flag_of_variable(name: str, spelled: Mapping[str, Flag]) -> str | None:
    """The flag that a variable is another spelling of, where the command leaves that one open."""
    own = _VARIABLES.get(name)
    return own if own and _is_open(spelled.get(own)) else None


def _taken_apart(
    flags: Mapping[str, Flag], whole: Flag, options: dict[str, Any], own_names: Mapping[str, str]
) -> dict[str, Spelled]:
    own = {key: name for key, name in own_names.items() if _is_open(flags.get(name))}
    parts = {
        own[key]: _as_flag(own[key], value, whole) for key, value in options.items() if key in own
    }
    rest = {key: value for key, value in options.items() if key not in own}
    if len(rest) == len(options):
        parts[whole.name] = whole
    elif rest:
        parts[whole.name] = replace(whole, values=(json_text(rest),))
    return {name: Spelled(flag, whole) for name, flag in parts.items() if flag is not None}


def _as_flag(name: str, value: Any, whole: Flag) -> Flag | None:
    """None for null, which is as if it were not there."""
    if value is None:
        return None
    if isinstance(value, bool):
        return replace(whole, name=name, values=(), negated=not value)
    values = value if isinstance(value, list) else [value]
    return replace(whole, name=name, values=tuple(map(json_text, values)))


def _options(flag: Flag) -> dict[str, Any]:
    try:
        document = json.loads(flag.value or "")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(document, dict):
        return {}
    return {key.replace("-", "_"): value for key, value in document.items()}


def _is_open(flag: Flag | None) -> bool:
    return flag is None or flag.value in _OPEN
