"""MTP: what speculative decoding brings, from vLLM's own counters, with our figures beside."""

from typing import Final

from grafana.generator import colours
from grafana.generator.dashboard import Dashboard, choice, engines, proxies
from grafana.generator.layout import Row, side_by_side, tiles
from grafana.generator.panels import (
    EVENTS_A_SECOND,
    TOKENS_A_SECOND,
    Json,
    Judgement,
    Query,
    Words,
    curves,
    tile,
)
from grafana.generator.promql import engine, gate, host, mean, per_second, quantile, ratio, total
from grafana.generator.series import (
    ACCEPTANCE,
    ACCEPTED,
    DRAFT_TOKENS,
    DRAFTS,
    ENGINES,
    SPECULATING,
    SPECULATION_OFF,
    TOKENS_PER_SECOND,
    speculative,
)

_LENGTH: Final = f"1 + {ratio(per_second(ACCEPTED), per_second(DRAFTS))}"
_BY_POSITION: Final = (
    f"{per_second(engine('spec_decode_num_accepted_tokens_per_pos_total'), 'position')} "
    f"/ on () group_left () ({per_second(DRAFTS)} > 0)"
)
_NO_DRAFTS: Final = "no drafts"
_NONE_OR_OFF: Final = "no traffic, or speculation off (see the tile)"
_NO_ENGINE: Final = "no engine scraped"
_NO_EXPORTER: Final = "no exporter scraped"


def mtp() -> Dashboard:
    exporters = '{__name__=~"node_memory_MemTotal_bytes|DCGM_FI_DEV_POWER_USAGE"}'
    hosts = [
        choice("host_job", "exporters", f"label_values({exporters}, job)", hidden=True),
        choice("host", "host", f"label_values({exporters}, instance)"),
    ]
    return Dashboard(
        uid="sluicegate-mtp",
        title="Sluicegate / MTP",
        description="Acceptance, drafts, decode rate, the engine's load, and the machine below it.",
        variables=[*proxies(), *engines(), *hosts],
        rows=[
            Row("", [tiles(*_now())]),
            Row("Do drafts land?", [side_by_side(*_drafts())]),
            Row("What does it bring?", [side_by_side(*_gain())]),
            Row("Is the engine full?", [side_by_side(*_load())]),
            Row("How long does the engine take?", [side_by_side(*_times())], collapsed=True),
            Row("How is the machine?", [side_by_side(*_machine())], collapsed=True),
        ],
    )


def _now() -> list[Json]:
    return [
        tile(
            "Speculation",
            "Whether the engine counts drafts at all. Off though the recipe says MTP: the engine "
            "was started otherwise; `sluicegate recipe check`, and its log.",
            f"({SPECULATING} / {SPECULATING}) or (0 * {ENGINES})",
            "none",
            words=Words({1: ("on", colours.GOOD), 0: ("speculation off", colours.WARNING)}),
            no_value=_NO_ENGINE,
        ),
        tile(
            "Acceptance rate",
            "Share of draft tokens that were accepted. Well below its usual value: other texts, or "
            "another recipe or vLLM. Runbook: acceptance-collapsed.",
            speculative(ACCEPTANCE),
            "percentunit",
            words=SPECULATION_OFF,
            no_value=_NO_DRAFTS,
        ),
        tile(
            "Acceptance length",
            "Tokens for each step of the engine, the model's own included: 1 to 2 with MTP1. At 1 "
            "speculation only costs.",
            speculative(_LENGTH),
            "none",
            words=SPECULATION_OFF,
            no_value=_NO_DRAFTS,
        ),
        tile(
            "Drafts",
            "Steps with a draft. Zero under traffic: speculation is off, or the batch is too "
            "large.",
            per_second(DRAFTS),
            EVENTS_A_SECOND,
            no_value="speculation off, or no engine",
        ),
        tile(
            "Decode rate p50",
            "Tokens per second of the median stream, measured by the proxy.",
            quantile(0.5, TOKENS_PER_SECOND),
            TOKENS_A_SECOND,
        ),
        tile(
            "KV cache",
            "Share in use, of the fullest engine. Near 100 %: preemptions follow; shorten contexts "
            "or lower max_num_seqs.",
            f"max({engine('kv_cache_usage_perc')})",
            "percentunit",
            judgement=Judgement(0.85, 0.95),
            no_value=_NO_ENGINE,
        ),
        tile(
            "Waiting in the engine",
            "Requests that vLLM has not begun. Above 0 for long: lower admission.concurrent to its "
            "max_num_seqs, so that they wait where they can be refused.",
            total(engine("num_requests_waiting")),
            "none",
            judgement=Judgement(1, 8),
            no_value=_NO_ENGINE,
        ),
        tile(
            "Recipe contradicted",
            "Switches that the settings' recipe states and the running engine does not have. Above "
            "0: `/ready` of the proxy names them; start the engine from the recipe.",
            total(gate("recipe_contradictions")),
            "none",
            judgement=Judgement(1, 1),
            no_value="no recipe named",
        ),
    ]


def _drafts() -> list[Json]:
    return [
        curves(
            "Acceptance rate over time",
            "A step after the mark of an engine start: the new start differs. A slow drift: the "
            "texts differ.",
            [
                Query(
                    ratio(
                        per_second(ACCEPTED, "model_name"), per_second(DRAFT_TOKENS, "model_name")
                    ),
                    "{{model_name}}",
                )
            ],
            "percentunit",
            limits=(0, 1),
            no_value=_NONE_OR_OFF,
        ),
        curves(
            "Acceptance by position",
            "Position 0 is the first draft token; with MTP1 it is the only one. Later positions "
            "that are hardly accepted: use fewer draft tokens.",
            [Query(_BY_POSITION, "position {{position}}")],
            "percentunit",
            limits=(0, 1),
            no_value=_NONE_OR_OFF,
        ),
        curves(
            "Acceptance length over time",
            "1 + accepted tokens for each draft. With MTP1 between 1 and 2.",
            [
                Query(
                    "1 + "
                    + ratio(per_second(ACCEPTED, "model_name"), per_second(DRAFTS, "model_name")),
                    "{{model_name}}",
                )
            ],
            "none",
            limits=(1, None),
            no_value=_NONE_OR_OFF,
        ),
    ]


def _gain() -> list[Json]:
    return [
        curves(
            "Draft tokens",
            "Rejected ones are work for nothing. More rejected than accepted: compare with "
            "speculation off.",
            [
                Query(per_second(ACCEPTED), "accepted"),
                Query(f"{per_second(DRAFT_TOKENS)} - {per_second(ACCEPTED)}", "rejected"),
            ],
            TOKENS_A_SECOND,
            colours=colours.DRAFTS,
            stacked=True,
            no_value="speculation off, or no engine",
        ),
        curves(
            "Decode rate of a stream",
            "Measured by the proxy. Follows acceptance while the load is even.",
            [
                Query(quantile(0.5, TOKENS_PER_SECOND), "p50"),
                Query(quantile(0.05, TOKENS_PER_SECOND), "p5"),
            ],
            TOKENS_A_SECOND,
            colours=colours.QUANTILES,
        ),
        curves(
            "Tokens of the whole engine",
            "All sequences together, by the engine's own count.",
            [
                Query(per_second(engine("generation_tokens_total")), "generated"),
                Query(per_second(engine("prompt_tokens_total")), "prompt"),
            ],
            TOKENS_A_SECOND,
            colours={"generated": "blue", "prompt": "purple"},
            no_value=_NO_ENGINE,
        ),
    ]


def _load() -> list[Json]:
    return [
        curves(
            "KV cache in use",
            "A plateau near 100 % comes before preemptions.",
            [Query(f"max by (instance) ({engine('kv_cache_usage_perc')})", "{{instance}}")],
            "percentunit",
            limits=(0, 1),
            no_value=_NO_ENGINE,
        ),
        curves(
            "Running and waiting",
            "running stops at max_num_seqs; what is beyond waits.",
            [
                Query(total(engine("num_requests_running")), "running"),
                Query(total(engine("num_requests_waiting")), "waiting"),
            ],
            "none",
            colours={"running": "blue", "waiting": colours.WARNING},
            no_value=_NO_ENGINE,
        ),
        curves(
            "Preemptions over time",
            "Each costs the whole prefill again.",
            [Query(per_second(engine("num_preemptions_total"), "instance"), "{{instance}}")],
            EVENTS_A_SECOND,
            no_value=_NO_ENGINE,
        ),
    ]


def _times() -> list[Json]:
    return [
        curves(
            "Means inside the engine",
            "Exact means: its quantiles have buckets too wide for 100 to 150 ms. queue: before the "
            "first step; prefill grows with prompts.",
            [
                Query(mean(engine("time_to_first_token_seconds")), "first token"),
                Query(mean(engine("request_queue_time_seconds")), "queue"),
                Query(mean(engine("request_prefill_time_seconds")), "prefill"),
            ],
            "s",
            colours={"first token": "purple", "queue": colours.WARNING, "prefill": "blue"},
        ),
        curves(
            "Mean time between tokens",
            "What one token of a stream costs; with MTP two may come at once.",
            [Query(mean(engine("inter_token_latency_seconds")), "between tokens")],
            "s",
            colours={"between tokens": "blue"},
        ),
    ]


def _machine() -> list[Json]:
    return [
        curves(
            "Memory of the host",
            "On a machine with unified memory (GB10) this is the model's memory too. Little left: "
            "lower gpu_memory_utilization.",
            [
                Query(
                    f"{total(host('node_memory_MemAvailable_bytes'), 'instance')}",
                    "{{instance}} available",
                ),
                Query(
                    f"{total(host('node_memory_MemTotal_bytes'), 'instance')}", "{{instance}} total"
                ),
            ],
            "bytes",
            no_value=_NO_EXPORTER,
        ),
        curves(
            "GPU power",
            "Falling under load: throttled; see the temperature.",
            [
                Query(
                    total(host("DCGM_FI_DEV_POWER_USAGE"), "instance", "gpu"),
                    "{{instance}} {{gpu}}",
                )
            ],
            "watt",
            no_value=_NO_EXPORTER,
        ),
        curves(
            "GPU temperature",
            "Above 85 °C most machines slow down: mend the cooling.",
            [Query(total(host("DCGM_FI_DEV_GPU_TEMP"), "instance", "gpu"), "{{instance}} {{gpu}}")],
            "celsius",
            limits=(None, None),
            no_value=_NO_EXPORTER,
        ),
        curves(
            "GPU utilisation",
            "Low under load: the processor or the network holds it up.",
            [Query(total(host("DCGM_FI_DEV_GPU_UTIL"), "instance", "gpu"), "{{instance}} {{gpu}}")],
            "percent",
            limits=(0, 100),
            no_value=_NO_EXPORTER,
        ),
    ]
