"""The imitation's own metrics page, in the names, labels and buckets of vLLM 0.32."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from proxy.demo.imitation.schedule import Step
from proxy.demo.imitation.seats import Seats
from proxy.demo.imitation.variant import Variant

CACHE_TOKENS: Final = 16_384  # assumed: small, so that a demo's load is seen in it
_BLOCK_TOKENS: Final = 256
_ENGINE: Final = "0"
_LABELS: Final = ("engine", "model_name")
_FINISHED: Final = ("stop", "length", "abort", "error", "repetition")
_SLEEP: Final[Mapping[str, int]] = {"awake": 1, "weights_offloaded": 0, "discard_all": 0}

_FIRST_TOKEN: Final = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5),
    *(10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0),
)
_BETWEEN_TOKENS: Final = (
    *(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5),
    *(10.0, 20.0, 40.0, 80.0),
)
_WHOLE: Final = (
    *(0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0),
    *(120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0),
)
# 1, 2, 5 and so on up to the context limit.
_TOKENS: Final = tuple(float(digit * 10**power) for power in range(6) for digit in (1, 2, 5))[:-1]

_HISTOGRAMS: Final[Mapping[str, tuple[float, ...]]] = {
    "time_to_first_token_seconds": _FIRST_TOKEN,
    "inter_token_latency_seconds": _BETWEEN_TOKENS,
    "request_time_per_output_token_seconds": _BETWEEN_TOKENS,
    "e2e_request_latency_seconds": _WHOLE,
    "request_queue_time_seconds": _WHOLE,
    "request_inference_time_seconds": _WHOLE,
    "request_prefill_time_seconds": _WHOLE,
    "request_decode_time_seconds": _WHOLE,
    "request_prompt_tokens": _TOKENS,
    "request_generation_tokens": _TOKENS,
}
_COUNTERS: Final = ("prompt_tokens", "generation_tokens", "num_preemptions")


@dataclass(frozen=True, slots=True)
class Served:
    """One request that was answered to its end. Times in seconds, as a clock measured them."""

    finish_reason: str
    prompt_tokens: int
    output_tokens: int
    queued_seconds: float
    prefill_seconds: float
    decode_seconds: float


class EngineMetrics:
    """The counters of one engine start, in a registry of their own."""

    def __init__(self, variant: Variant, seats: Seats, started_at: float) -> None:
        self.registry = CollectorRegistry()
        make = _Instruments(self.registry, (_ENGINE, variant.model))
        self._counters = {name: make.counter(name) for name in _COUNTERS}
        self._histograms = {
            name: make.histogram(name, edges) for name, edges in _HISTOGRAMS.items()
        }
        self._successes = make.counters("request_success", "finished_reason", _FINISHED)
        self._drafts = _Drafts(make, variant.draft_tokens) if variant.draft_tokens else None
        _show_engine(make, seats, started_at)

    def began(self, prompt_tokens: int) -> None:
        self._counters["prompt_tokens"].inc(prompt_tokens)

    def stepped(self, step: Step) -> None:
        self._counters["generation_tokens"].inc(step.tokens)
        if self._drafts is not None and step.drafted:
            self._drafts.count(step)

    def first_token(self, seconds: float) -> None:
        """Seconds since the request arrived, waiting for a seat included."""
        self._histograms["time_to_first_token_seconds"].observe(seconds)

    def between_tokens(self, seconds: float) -> None:
        self._histograms["inter_token_latency_seconds"].observe(seconds)

    def served(self, served: Served) -> None:
        """An aborted request is not served: it leaves its tokens in the counters and no more."""
        self._successes[served.finish_reason].inc()
        computed = served.prefill_seconds + served.decode_seconds
        seen = {
            "e2e_request_latency_seconds": served.queued_seconds + computed,
            "request_queue_time_seconds": served.queued_seconds,
            "request_inference_time_seconds": computed,
            "request_prefill_time_seconds": served.prefill_seconds,
            "request_decode_time_seconds": served.decode_seconds,
            "request_prompt_tokens": served.prompt_tokens,
            "request_generation_tokens": served.output_tokens,
        }
        if served.output_tokens > 1:
            each = served.decode_seconds / (served.output_tokens - 1)
            seen["request_time_per_output_token_seconds"] = each
        for name, value in seen.items():
            self._histograms[name].observe(value)


@dataclass(frozen=True, slots=True)
class _Instruments:
    """Makes series of this engine; their names get vLLM's prefix."""

    registry: CollectorRegistry
    values: tuple[str, str]

    def counter(self, name: str) -> Counter:
        made = Counter(f"vllm:{name}", _help(name), _LABELS, registry=self.registry)
        return made.labels(*self.values)

    def counters(self, name: str, label: str, values: Iterable[str]) -> dict[str, Counter]:
        made = Counter(f"vllm:{name}", _help(name), (*_LABELS, label), registry=self.registry)
        return {value: made.labels(*self.values, value) for value in values}

    def histogram(self, name: str, edges: Sequence[float]) -> Histogram:
        made = Histogram(
            f"vllm:{name}", _help(name), _LABELS, registry=self.registry, buckets=edges
        )
        return made.labels(*self.values)

    def gauge(self, name: str) -> Gauge:
        made = Gauge(f"vllm:{name}", _help(name), _LABELS, registry=self.registry)
        return made.labels(*self.values)

    def states(self, name: str, rows: Iterable[tuple[Mapping[str, str], float]]) -> None:
        """A gauge of several series that never change; the rows have the same labels."""
        fixed = list(rows)
        labels = (*_LABELS, *fixed[0][0])
        made = Gauge(f"vllm:{name}", _help(name), labels, registry=self.registry)
        for more, value in fixed:
            made.labels(*self.values, *more.values()).set(value)


class _Drafts:
    """The counters of speculative decoding; a server without it has none of them."""

    def __init__(self, make: _Instruments, positions: int) -> None:
        self._drafts = make.counter("spec_decode_num_drafts")
        self._drafted = make.counter("spec_decode_num_draft_tokens")
        self._accepted = make.counter("spec_decode_num_accepted_tokens")
        self._by_position = make.counters(
            "spec_decode_num_accepted_tokens_per_pos", "position", map(str, range(positions))
        )

    def count(self, step: Step) -> None:
        self._drafts.inc()
        self._drafted.inc(step.drafted)
        self._accepted.inc(step.accepted)
        for position in range(step.accepted):
            self._by_position[str(position)].inc()


def _show_engine(make: _Instruments, seats: Seats, started_at: float) -> None:
    """The gauges that look at the engine, and what it says of itself."""
    start = Gauge("process_start_time_seconds", "Start of this imitation.", registry=make.registry)
    start.set(started_at)
    make.gauge("num_requests_running").set_function(lambda: seats.running)
    make.gauge("num_requests_waiting").set_function(lambda: seats.waiting)
    make.gauge("kv_cache_usage_perc").set_function(lambda: min(1.0, seats.tokens / CACHE_TOKENS))
    blocks = str(CACHE_TOKENS // _BLOCK_TOKENS)
    cache = {"block_size": str(_BLOCK_TOKENS), "num_gpu_blocks": blocks, "cache_dtype": "imitation"}
    make.states("cache_config_info", [(cache, 1)])
    make.states(
        "engine_sleep_state",
        [({"sleep_state": state}, value) for state, value in _SLEEP.items()],
    )


def _help(name: str) -> str:
    return f"Of an imitation, not of vLLM: {name.replace('_', ' ')}."
