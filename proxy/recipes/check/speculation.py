"""`--speculative-config`: keys, method and drafter, which vLLM looks at only when it starts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from proxy.errors import Place
from proxy.nearest import did_you_mean
from proxy.recipes.check.finding import Finding, Severity
from proxy.recipes.check.subject import Subject
from proxy.recipes.recipe import Speculation

FLAG: Final = "--speculative-config"
MTP: Final = "mtp"
_OF_MTP: Final = "_mtp"
_SOURCE: Final = "https://github.com/vllm-project/vllm/blob/v0.32.0/vllm/config/speculative.py"
# The fields of SpeculativeConfig in vLLM 0.32.0 that are for users.
_KEYS: Final = frozenset(
    {
        *("enforce_eager", "num_speculative_tokens", "model", "method"),
        *("draft_tensor_parallel_size", "quantization", "moe_backend"),
        *("attention_backend", "kv_cache_dtype", "max_model_len", "revision"),
        *("code_revision", "index_share_for_mtp_iteration"),
        *("disable_padded_drafter_batch", "disable_eagle_block_drop"),
        *("use_local_argmax_reduction", "use_heterogeneous_vocab", "prompt_lookup_max"),
        *("prompt_lookup_min", "parallel_drafting"),
        *("num_speculative_tokens_per_batch_size", "suffix_decoding_max_tree_depth"),
        *("suffix_decoding_max_cached_requests", "suffix_decoding_max_spec_factor"),
        *("suffix_decoding_min_token_prob", "draft_load_config"),
        *("rejection_sample_method", "synthetic_acceptance_rates"),
        *("synthetic_acceptance_length", "enable_adaptive_verification"),
        *("draft_sample_method", "dspark_draft_topk"),
    }
)
_WITH_DRAFTER: Final = frozenset({"draft_model", "eagle", "eagle3", "dflash", "medusa"})
_SHOWN_CHARACTERS: Final = 60


def is_mtp(speculation: Speculation | None) -> bool:
    """Whether the model's own head drafts; older versions named it by the model."""
    method = (speculation and speculation.method) or ""
    return method == MTP or method.endswith(_OF_MTP)


def check_speculation(subject: Subject) -> Iterator[Finding]:
    """Nothing where the recipe does not speculate."""
    flag = subject.flag(FLAG)
    speculation = subject.recipe.engine.speculation
    if flag is None or speculation is None:
        return
    checked = _Checked(subject, speculation, subject.value_place(flag))
    yield from checked.keys()
    yield from checked.method()
    yield from checked.tokens()


@dataclass(frozen=True, slots=True)
class _Checked:
    subject: Subject
    speculation: Speculation
    place: Place

    def keys(self) -> Iterator[Finding]:
        for key in self.speculation.options:
            if key == "tensor_parallel_size":
                message = "`tensor_parallel_size` is not the drafter's"
                yield self._error("speculation-key", message, "write `draft_tensor_parallel_size`")
            elif key not in _KEYS:
                message = f"`{FLAG}` of vLLM 0.32.0 has no key `{key[:_SHOWN_CHARACTERS]}`"
                remedy = did_you_mean(key, _KEYS, "remove it")
                yield self._unknown("speculation-key", message, remedy)

    def method(self) -> Iterator[Finding]:
        method, methods = self.speculation.method, self.subject.facts.speculative_methods
        if method is None:
            return
        shown = method[:_SHOWN_CHARACTERS]
        if methods and method not in methods and method != "[ngram]":
            message = f"vLLM {self.subject.facts.version} has no speculative method `{shown}`"
            remedy = did_you_mean(method, methods, "see the documentation of vLLM")
            yield self._unknown("unknown-name", message, remedy)
        elif method.endswith(_OF_MTP):
            message = f"the method `{shown}` is called `{MTP}` now; vLLM takes both"
            yield self._finding(Severity.NOTE, "deprecated-method", message, f'write "{MTP}"')
        elif method in _WITH_DRAFTER and not self.speculation.model:
            message = f"the method `{shown}` needs a drafter"
            yield self._error("missing-drafter", message, 'add `"model": "OWNER/DRAFTER"`')

    def tokens(self) -> Iterator[Finding]:
        tokens = self.speculation.options.get("num_speculative_tokens")
        is_count = isinstance(tokens, int) and not isinstance(tokens, bool) and tokens > 0
        if tokens is not None and not is_count:
            message = "`num_speculative_tokens` must be a whole number above 0; "
            message += f"it is `{str(tokens)[:_SHOWN_CHARACTERS]}`"
            yield self._error("out-of-range", message, "write 1, or another whole number")

    def _unknown(self, code: str, message: str, remedy: str) -> Finding:
        document = self.subject.document
        return self._finding(document.unknown_is, code, message, document.or_newer(remedy))

    def _error(self, code: str, message: str, remedy: str) -> Finding:
        return self._finding(Severity.ERROR, code, message, remedy)

    def _finding(self, severity: Severity, code: str, message: str, remedy: str) -> Finding:
        return Finding(severity, code, self.place, message, remedy, _SOURCE)
