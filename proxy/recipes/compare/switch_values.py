"""What a switch's text means, so that two spellings of one value are equal."""

import json
import re
from decimal import Decimal
from typing import Any, Final, TypeAlias

from proxy.recipes.compare.switch_groups import Group
from proxy.recipes.parsing.human_numbers import read_number

SPECULATION_METHOD: Final = "speculation method"

Meaning: TypeAlias = str | Decimal | None
"""Equal for texts that mean the same. None: as if the switch were not there."""

_NUMBER: Final = re.compile(r"[+-]?(\d{1,18}(\.\d{0,18})?|\.\d{1,18})([eE][+-]?\d{1,2})?")
# Names: `1.0` and `1` are two of them.
_NAMES: Final = frozenset({Group.CHECKPOINT, Group.BUILD, Group.ADDRESS, Group.NAME})
_SIZES: Final = frozenset({Group.SCHEDULING, Group.MEMORY})
# vLLM turns these into one case before it looks for them.
_ANY_CASE: Final = frozenset(
    f"--{name}-backend" for name in ("attention", "moe", "linear", "sparse-indexer-topk")
)
# vLLM's own default is the word `auto` (0.32.0: the classes of vllm/config), or, of the attention
# backend, what the word is taken for.
_AUTO_IS_DEFAULT: Final = _ANY_CASE | {
    *("--dtype", "--kv-cache-dtype", "--mamba-cache-dtype", "--mamba-ssm-cache-dtype"),
    *("--load-format", "--config-format", "--tokenizer-mode", "--generation-config"),
    *("--runner", "--convert", "--model-impl", "--offload-backend"),
}


def meaning_of(name: str, group: Group, text: str) -> Meaning:
    """What a switch's text means to vLLM; the text itself where no rule is known."""
    if name in _ANY_CASE:
        text = text.lower().replace("-", "_")
    if name in _AUTO_IS_DEFAULT and text == "auto":
        return None
    if name == SPECULATION_METHOD:
        return _method(text)
    if text.startswith(("{", "[")):
        return _meaning_of_json(text)
    if group in _NAMES:
        return text
    if group in _SIZES and (size := read_number(text)) is not None:
        return Decimal(size)
    return Decimal(text) if _NUMBER.fullmatch(text) else text


def json_text(value: Any) -> str:
    """A JSON value as people read it: text bare, the rest in one canonical spelling."""
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _method(text: str) -> str:
    """The methods of single models (`qwen3_next_mtp`) are `mtp` to vLLM's `SpeculativeConfig`."""
    return "mtp" if text.endswith("_mtp") else text


def _meaning_of_json(text: str) -> Meaning:
    """The order of members, white space, and `1.0` for `1` make no difference."""
    try:
        value = json.loads(text, parse_float=_number)
        return json.dumps(value, sort_keys=True)
    except (ValueError, RecursionError):
        return text


def _number(text: str) -> float | int:
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
