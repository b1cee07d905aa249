"""Versions and boot facts of an engine start, for its record: few, short and printable.

They come from an untrusted server, and none is needed: what cannot be read is left out.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

import msgspec

from proxy.upstream.counters import MetricsPage

T = TypeVar("T")
Facts = dict[str, str]

_VALUE_CHARACTERS: Final = 200
_CACHE_LABELS: Final = (
    *("num_gpu_blocks", "block_size", "cache_dtype", "enable_prefix_caching"),
    "gpu_memory_utilization",
)
_CACHE: Final = b"vllm:cache_config_info"
_DRAFTS: Final = b"vllm:spec_decode_num_draft"
_POSITIONS: Final = b"vllm:spec_decode_num_accepted_tokens_per_pos_total"
_POSITION: Final = re.compile("[0-9]{1,3}")
# As vLLM spells what is not set.
_UNSET: Final = ("", "None")


class _Version(msgspec.Struct):
    version: str = ""


class _Model(msgspec.Struct):
    id: str = ""
    root: str | None = None
    max_model_len: int | None = None


class _Models(msgspec.Struct):
    data: list[_Model] = []


def facts_of_page(page: MetricsPage) -> Facts:
    """Of several engines behind one server the first counts.

    vLLM shows the counters of drafts, and one for each draft token of a step, from its start on.
    """
    found: dict[str, str] = {}
    speculative = is_vllm = False
    drafted = 0
    for series in page.series():
        if not series.name.startswith(b"vllm:"):
            continue
        is_vllm = True
        speculative = speculative or series.name.startswith(_DRAFTS)
        if series.name == _CACHE:
            for name in _CACHE_LABELS:
                found.setdefault(name, series.label(name))
        elif series.name == _POSITIONS:
            drafted = max(drafted, _count(series.label("position")))
        else:
            found.setdefault("model", series.label("model_name"))
    if is_vllm:
        found["speculative"] = str(speculative)
        found["speculative_tokens"] = str(drafted or "")
    return _fit(found.items())


def facts_of_version(body: bytes) -> Facts:
    """What `/version` answers."""
    return _fit([("vllm", _read(body, _Version()).version)])


def facts_of_models(body: bytes) -> Facts:
    """What `/v1/models` answers; the first model is the one that adapters were put on."""
    models = _read(body, _Models()).data
    if not models:
        return {}
    first = models[0]
    length = "" if first.max_model_len is None else str(first.max_model_len)
    return _fit([("model", first.id), ("root", first.root or ""), ("max_model_len", length)])


def _count(position: str) -> int:
    """How many positions there are up to this one, which vLLM counts from 0."""
    return int(position) + 1 if _POSITION.fullmatch(position) else 0


def _read(body: bytes, default: T) -> T:
    try:
        return msgspec.json.decode(body, type=type(default))
    except (msgspec.MsgspecError, RecursionError):
        return default


def _fit(facts: Iterable[tuple[str, str]]) -> Facts:
    return dict(_fitting(facts))


def _fitting(facts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for name, value in facts:
        shown = "".join(each for each in value if each.isprintable())[:_VALUE_CHARACTERS]
        if shown not in _UNSET:
            yield name, shown
