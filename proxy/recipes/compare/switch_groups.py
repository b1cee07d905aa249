"""What a switch of an engine belongs to, and what it may therefore move.

The groups follow from names, so that a flag of another build finds its place too. Nothing here is
measured: an effect is what a difference may move, not what it does.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Group(StrEnum):
    """Parts of an engine's configuration, in the order in which they are shown."""

    CHECKPOINT = "checkpoint"
    NUMERICS = "numerics"
    KERNELS = "kernels"
    SPECULATION = "speculation"
    SCHEDULING = "scheduling"
    MEMORY = "memory"
    PARALLELISM = "parallelism"
    SURFACE = "surface"
    BUILD = "build"
    LOADING = "loading"
    OTHER = "other"
    ADDRESS = "address"
    NAME = "name"

    @property
    def counts(self) -> bool:
        """Whether a difference can move what is measured or promised at all."""
        return self not in {Group.ADDRESS, Group.NAME}


class Effect(StrEnum):
    """What a difference may move."""

    THROUGHPUT = "throughput"
    TTFR = "TTFR"
    QUALITY = "quality"
    MEMORY = "memory"
    START = "start time"


_SPEED: Final = (Effect.THROUGHPUT, Effect.TTFR)
_ALL: Final = (*_SPEED, Effect.QUALITY, Effect.MEMORY)
# With MTP on hybrid models answers were reported to be corrupt: check/knowledge.py has the sources.
_ALSO_QUALITY: Final = frozenset({"--enable-prefix-caching"})
# Another kernel rounds otherwise. Verified drafts move no answer in theory; in practice another
# attention path, the drafter or a parser that sees several tokens at once does: docs/cold-start.md.
EFFECTS: Final[Mapping[Group, tuple[Effect, ...]]] = {
    Group.CHECKPOINT: _ALL,
    Group.NUMERICS: _ALL,
    Group.KERNELS: (*_SPEED, Effect.QUALITY),
    Group.SPECULATION: _ALL,
    Group.SCHEDULING: (*_SPEED, Effect.MEMORY),
    Group.MEMORY: (*_SPEED, Effect.MEMORY),
    Group.PARALLELISM: (*_SPEED, Effect.MEMORY),
    Group.SURFACE: (Effect.QUALITY,),
    Group.BUILD: (*_ALL, Effect.START),
    Group.LOADING: (Effect.START,),
    Group.OTHER: (),
    Group.ADDRESS: (),
    Group.NAME: (),
}

_FLAGS: Final = (
    (Group.NAME, r"served-model-name"),
    (Group.ADDRESS, r"host|port|uds|root-path|api-key|hf-token|ssl-.*|allowed-(origins|methods)"),
    (Group.ADDRESS, r"allow(ed)?-(headers|credentials)"),
    (Group.PARALLELISM, r".*parallel-(size|rank|backend).*|distributed-.*|dcp-.*|pcp-.*|nnodes"),
    (Group.PARALLELISM, r"(tensor|pipeline|data|expert)-parallel|tp|pp|enable-expert-parallel"),
    (Group.PARALLELISM, r"node-rank|master-(addr|port)|enable-eplb|mm-encoder-tp-mode"),
    (Group.CHECKPOINT, r"quantization.*|(code-|tokenizer-)?revision|tokenizer|hf-overrides"),
    (
        Group.CHECKPOINT,
        r"hf-config-path|convert|model-impl|trust-remote-code|.*lora-(modules|rank|dtype)|enable-lora",
    ),
    (Group.NUMERICS, r".*dtype|diffusion-config|.*-rounding|.*philox-rounds"),
    (Group.SPECULATION, r"spec(ulative)?-.*"),
    (Group.LOADING, r"load-format|download-dir|model-loader-.*|max-parallel-lo.*"),
    (Group.LOADING, r"safetensors-.*|enable-sleep-mode"),
    (Group.SURFACE, r".*(tool|reasoning|chat-template|generation-config|mm-per-prompt).*"),
    (Group.SURFACE, r"tokenizer-mode|seed|max-logprobs|structured-outputs-config|middleware"),
    (Group.SURFACE, r"runner|allowed-.*media.*|override-.*|response-role|default-.*"),
    (Group.SCHEDULING, r"max-num-(batched|scheduled|queued|partial|long).*|max-num-seqs"),
    (Group.SCHEDULING, r".*chunked-prefill.*|.*sched.*|long-prefill.*|performance-mode"),
    (
        Group.MEMORY,
        r".*(cach|memory|mem-|offload).*|(max-model|context)-len.*|block-size|swap-space",
    ),
    (Group.MEMORY, r"language-model-only|skip-mm-profiling"),
    (Group.KERNELS, r".*(backend|kernel|cudagraph|compil|autotune|attention|fuse|eager).*"),
    (Group.KERNELS, r"optimization-level|cuda-graph-.*|exp-.*|mxfp4-layers"),
)
_VARIABLES: Final = (
    (Group.ADDRESS, r".*(TOKEN|_KEY|SECRET|PASSWORD)|VLLM_(HOST_IP|PORT)"),
    (Group.LOADING, r"(HF|TRANSFORMERS|HUGGINGFACE)_.*|VLLM_CACHE_ROOT|.*_(TIMEOUT|CACHE_DIR).*"),
    (Group.LOADING, r"VLLM_ENABLE_CUDAGRAPH_GC|SAFETENSORS_.*|VLLM_WORKER_MULTIPROC_METHOD"),
    (Group.SPECULATION, r"VLLM_.*(MTP|SPEC_|DFLASH).*"),
    (Group.PARALLELISM, r".*NCCL.*|GLOO_.*|RAY_.*|.*_(ALLREDUCE|DISTRIBUTED|DCP|TP)_.*"),
    (Group.MEMORY, r".*(MEMORY|_MEM_|ALLOC_CONF|MAX_MODEL_LEN|KV_CACHE).*"),
    (
        Group.KERNELS,
        r"VLLM_USE_.*|VLLM_.*(MARLIN|ATTENTION|FLASH|MOE|TRITON|MLA|GEMM|FP8|SPARSE).*",
    ),
    (Group.KERNELS, r"(FLASHINFER|CUTE|TORCH|DG|B12X|CUDA|OMP|TILELANG|TRITON)_.*|.*_PRECISION"),
)


def effects_of(name: str, group: Group) -> tuple[Effect, ...]:
    """What a switch may move; empty where that is not known."""
    quality = (Effect.QUALITY,) if name in _ALSO_QUALITY else ()
    return (*EFFECTS[group], *quality)


def group_of_flag(name: str) -> Group:
    """The group of a flag by its long name, `--max-model-len` for instance."""
    return _first(_FLAGS, name.lstrip("-").replace("_", "-"))


def group_of_variable(name: str) -> Group:
    """The group of an environment variable."""
    return _first(_VARIABLES, name)


def _first(rules: tuple[tuple[Group, str], ...], name: str) -> Group:
    return next((group for group, rule in rules if re.fullmatch(rule, name)), Group.OTHER)
