"""A metrics page in vLLM's spelling, whose counters are those of an engine with MTP1."""

from dataclasses import dataclass
from typing import Final

_LABELS: Final = 'engine="0",model_name="tiny"'
_COUNTERS: Final = {
    "request_success_total": 1,
    "prompt_tokens_total": 9,
    "generation_tokens_total": 18,
    "num_preemptions_total": 0,
}
_DRAFTING: Final = {
    "spec_decode_num_drafts_total": 10,
    "spec_decode_num_draft_tokens_total": 10,
    "spec_decode_num_accepted_tokens_total": 8,
}
_MEANS: Final = {
    "time_to_first_token_seconds": (1, 0.004),
    "request_queue_time_seconds": (1, 0.0001),
    "request_prefill_time_seconds": (1, 0.003),
    "inter_token_latency_seconds": (17, 0.17),
}
_GAUGES: Final = {"num_requests_running": 1, "num_requests_waiting": 0, "kv_cache_usage_perc": 0.25}


@dataclass(frozen=True, slots=True)
class VllmPage:
    """What the page says after so many requests. Each made ten drafts of one token; 8 landed."""

    requests: int
    started_at: float = 1_790_000_000.0
    speculates: bool = True

    def __bytes__(self) -> bytes:
        return ("\n".join(self._lines()) + "\n").encode()

    def _lines(self) -> list[str]:
        counters = _COUNTERS | (_DRAFTING if self.speculates else {})
        lines = [f"process_start_time_seconds {self.started_at}"]
        lines += [f"vllm:{name}{{{_LABELS}}} {value}" for name, value in _GAUGES.items()]
        lines += [
            f"vllm:{name}{{{_LABELS}}} {each * self.requests}" for name, each in counters.items()
        ]
        for name, (count, seconds) in _MEANS.items():
            lines.append(f"vllm:{name}_count{{{_LABELS}}} {count * self.requests}")
            lines.append(f"vllm:{name}_sum{{{_LABELS}}} {seconds * self.requests}")
        if self.speculates:
            labels = f'{_LABELS},position="0"'
            name = f"vllm:spec_decode_num_accepted_tokens_per_pos_total{{{labels}}}"
            lines.append(f"{name} {8 * self.requests}")
        return lines
