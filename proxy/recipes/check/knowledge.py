"""What is known of vLLM's versions that concerns a recipe, each with the address it is from.

Read in the autumn of 2026. A fact holds for the releases from `since` on and before `fixed`; one
that is not fixed holds as far as `seen`, the last release that it was reported for.
"""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from proxy.recipes.vllm.build import Release

_VLLM: Final = "https://github.com/vllm-project/vllm"


class Concern(StrEnum):
    """What a recipe must have for a fact to concern it."""

    ANY = "any vLLM"
    SPECULATION = "speculative decoding"
    SPECULATION_AND_REASONING = "speculative decoding with a reasoning parser"
    MTP_AND_PREFIX_CACHE_ON_HYBRID = "MTP and prefix caching on a hybrid model"
    MTP_AND_PIPELINE = "MTP with pipeline parallelism"
    SEVERAL_MTP_TOKENS = "MTP with more than one draft token"
    API_KEY = "an API key of vLLM's own"
    REMOTE_CODE = "code from the model's repository"
    QWEN3_CODER = "the tool parser qwen3_coder"
    QWEN3_XML_WITHOUT_REASONING = "the tool parser qwen3_xml without a reasoning parser"
    QUANTIZED_CACHE_WITH_FLASH_ATTENTION = "an FP8 KV cache with FlashAttention"
    QUANTIZED_CACHE_WITH_DFLASH = "an FP8 KV cache with DFlash"


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is known. `merged` is the day from which builds of the main branch have it.

    A fact without `seen` and `fixed` holds for every release.
    """

    code: str
    concern: Concern
    message: str
    remedy: str
    source: str
    since: Release | None = None
    fixed: Release | None = None
    seen: Release | None = None
    merged: dt.date | None = None

    @property
    def is_of_versions(self) -> bool:
        return self.fixed is not None or self.seen is not None


def _release(*numbers: int) -> Release:
    return Release(numbers)


FACTS: Final = (
    Fact(
        "mtp-layer-reused",
        Concern.SEVERAL_MTP_TOKENS,
        "vLLM runs the same MTP layer once for each draft token, and says at the start that "
        "acceptance may fall",
        "compare with one draft token; more is not always faster",
        f"{_VLLM}/blob/v0.32.0/vllm/config/speculative.py",
    ),
    Fact(
        "structured-output-defect",
        Concern.SPECULATION_AND_REASONING,
        "strict JSON may begin twice where `</think>` is an accepted draft token (measured: with "
        "0.24.0, 0 of 20 such answers were valid; with 0.32.0, 20 of 20)",
        "use vLLM 0.27.0, the first release after the fix was merged, or newer; else judge every "
        "answer with `strict_json`, as docs/cold-start.md says",
        f"{_VLLM}/pull/44993",
        fixed=_release(0, 27, 0),
        merged=dt.date(2026, 7, 23),
    ),
    Fact(
        "prefix-cache-with-mtp",
        Concern.MTP_AND_PREFIX_CACHE_ON_HYBRID,
        "answers from the prefix cache are reported to be corrupt with MTP on models that mix "
        "attention with Mamba or Gated DeltaNet layers; the report was open in October 2026",
        "if tool calls or long contexts go wrong, compare with `--no-enable-prefix-caching`, "
        "or with `--no-async-scheduling`",
        f"{_VLLM}/issues/53912",
        seen=_release(0, 28, 0),
    ),
    Fact(
        "mtp-with-pipeline",
        Concern.MTP_AND_PIPELINE,
        "vLLM may refuse MTP with pipeline parallelism: `Pipeline parallelism is not supported "
        "for this model`",
        "use tensor parallelism, or a vLLM with pull request 46994",
        f"{_VLLM}/issues/52069",
        seen=_release(0, 26, 1),
    ),
    Fact(
        "first-greedy-request-compiles",
        Concern.SPECULATION,
        "the first request at `temperature` 0 compiles kernels: +0.6 s on one machine",
        "do not measure the first request after the start",
        f"{_VLLM}/issues/54455",
    ),
    Fact(
        "sampling-without-effect",
        Concern.SPECULATION,
        "`min_p` and `logit_bias` of a request do nothing under speculative decoding",
        "tell clients that rely on them",
        f"{_VLLM}/blob/v0.32.0/vllm/v1/sample/logits_processor/__init__.py",
    ),
    Fact(
        "tool-parser-takes-reasoning",
        Concern.QWEN3_XML_WITHOUT_REASONING,
        "the tool parser `qwen3_xml` is reported to swallow `</think>`, so that reasoning ends up "
        "in the answer",
        "add `--reasoning-parser qwen3`",
        f"{_VLLM}/issues/51679",
        seen=_release(0, 27, 0),
    ),
    Fact(
        "flash-attention-with-fp8-cache",
        Concern.QUANTIZED_CACHE_WITH_FLASH_ATTENTION,
        "FlashAttention reads an FP8 KV cache only on Hopper and on data-centre Blackwell "
        "(sm_90, sm_100), not on a DGX Spark (sm_121)",
        "use `--attention-backend flashinfer`, or `--kv-cache-dtype auto`",
        f"{_VLLM}/blob/v0.32.0/vllm/v1/attention/backends/fa_utils.py",
    ),
    Fact(
        "dflash-with-fp8-cache",
        Concern.QUANTIZED_CACHE_WITH_DFLASH,
        "DFlash needs attention that is not causal, which no backend of vLLM 0.20.0 has with an "
        "FP8 KV cache; FlashInfer has it since pull request 43081",
        "use `--kv-cache-dtype auto`, or a newer vLLM with `--attention-backend flashinfer`",
        f"{_VLLM}/issues/41559",
        seen=_release(0, 20, 0),
    ),
)


@dataclass(frozen=True, slots=True)
class _Span:
    """The releases that an advisory is about: from `since` on, before `fixed`."""

    fixed: Release
    since: Release | None = None


def _advisory(
    name: str, what: str, span: _Span, identifier: str, concern: Concern = Concern.ANY
) -> Fact:
    return Fact(
        "known-vulnerability",
        concern,
        f"{name}: {what}",
        f"fixed in vLLM {span.fixed}",
        f"{_VLLM}/security/advisories/{identifier}",
        since=span.since,
        fixed=span.fixed,
    )


# The newest first.
ADVISORIES: Final = (
    _advisory(
        "GHSA-4xqp-c3mv-qff7",
        "one request with a huge `min_tokens` stalls the engine while `/health` stays 200",
        _Span(_release(0, 31, 0)),
        "GHSA-4xqp-c3mv-qff7",
    ),
    _advisory(
        "GHSA-h3rc-6mm3-gc2m",
        "a request can run code in the server where `--trust-remote-code` is on",
        _Span(_release(0, 31, 0), _release(0, 7, 3)),
        "GHSA-h3rc-6mm3-gc2m",
        Concern.REMOTE_CODE,
    ),
    _advisory(
        "CVE-2026-105757",
        "a request for structured output can end the engine for everybody",
        _Span(_release(0, 30, 0)),
        "GHSA-85xf-c7hm-whqw",
    ),
    _advisory(
        "CVE-2026-55574",
        "a regular expression in `structured_outputs` is compiled without a time limit",
        _Span(_release(0, 24, 0)),
        "GHSA-rwxx-mrjm-wc2m",
    ),
    _advisory(
        "CVE-2026-54234",
        "a request can end the engine under speculative decoding",
        _Span(_release(0, 24, 0), _release(0, 17, 1)),
        "GHSA-8wr5-jm2h-8r4f",
        Concern.SPECULATION,
    ),
    _advisory(
        "CVE-2026-48746",
        "vLLM's own API key can be got round",
        _Span(_release(0, 22, 0), _release(0, 3, 0)),
        "GHSA-94f4-hr76-p5j6",
        Concern.API_KEY,
    ),
    _advisory(
        "CVE-2026-34756",
        "one request with a huge `n` ends the server",
        _Span(_release(0, 19, 0), _release(0, 1, 0)),
        "GHSA-3mwp-wvh9-7528",
    ),
    _advisory(
        "CVE-2025-9141",
        "a tool call can run code in the server with the tool parser `qwen3_coder`",
        _Span(_release(0, 10, 1, 1), _release(0, 10, 0)),
        "GHSA-79j6-g2m3-jgfw",
        Concern.QWEN3_CODER,
    ),
)
