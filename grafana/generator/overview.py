"""Overview: whether it works, whether it is quick, and whose fault it is if not."""

from grafana.generator import colours
from grafana.generator.dashboard import Dashboard, edge, engines, proxies
from grafana.generator.layout import Row, side_by_side, tiles
from grafana.generator.own_process import own_process
from grafana.generator.panels import (
    EVENTS_A_SECOND,
    TOKENS_A_SECOND,
    Json,
    Judgement,
    Query,
    curves,
    heatmap,
    tile,
)
from grafana.generator.path import whose_fault
from grafana.generator.promql import (
    engine,
    gate,
    mean,
    observed,
    per_second,
    quantile,
    share,
    targets,
    total,
    within,
)
from grafana.generator.series import (
    DELIVERED,
    FAILED,
    FAILED_A_SECOND,
    STREAMS,
    TOKENS_PER_SECOND,
    UPSTREAM,
)


def overview() -> Dashboard:
    edges = "label_values(sluicegate_upstream_time_to_first_response_seconds_bucket, le)"
    return Dashboard(
        uid="sluicegate-overview",
        title="Sluicegate / Overview",
        description="Rate, errors, time; is it the model, the recipe, the gate or the network?",
        variables=[*proxies(), *engines(), edge("slo", "TTFR promised (s)", edges, "0.2")],
        rows=[
            Row("", [tiles(*_now())]),
            Row("Is it the model, the recipe, the gate or the network?", whose_fault()),
            Row("How soon does a reply begin?", [side_by_side(*_begin())]),
            Row("Is the promise kept?", [side_by_side(*_promise())]),
            Row("How fast do replies flow?", [side_by_side(*_flow())]),
            Row("How do requests end?", [side_by_side(*_ends())]),
            Row("What does the gate cost?", [side_by_side(*_costs())]),
            Row("Does the proxy lose anything?", [side_by_side(*_losses())], collapsed=True),
            Row("Is the proxy's process well?", [side_by_side(*own_process())], collapsed=True),
        ],
    )


def _now() -> list[Json]:
    return [
        tile(
            "Requests",
            "All requests that ended, whatever came of them. Nothing where traffic is expected: "
            "look at targets down, then at the clients.",
            per_second(gate("requests_total")),
            "reqps",
        ),
        tile(
            "Upstream failures",
            "Share of requests that the engine failed or left unanswered. Above 0: see the "
            "outcomes, then the engine's state on Contract and its log.",
            share("requests_total", FAILED),
            "percentunit",
            judgement=Judgement(0.01, 0.05),
        ),
        tile(
            "Rejected",
            "Share of requests that a gate refused in the end (422). See Contract for gate and "
            "fault.",
            share("requests_total", 'outcome="rejected"'),
            "percentunit",
            judgement=Judgement(0.02, 0.1),
        ),
        tile(
            "Targets down",
            "Proxies and engines that Prometheus does not reach, of the jobs sluicegate and vllm. "
            "Above 0: start them, or mend the scrape configuration. No value: it scrapes no such "
            "job.",
            f"count({targets()} == 0) or 0 * count({targets()})",
            "none",
            judgement=Judgement(1, 1),
            no_value="none scraped",
        ),
        tile(
            "Delivered TTFR p50",
            "Half of the streams begin within this time, as clients get them. Compare with the "
            "recipe's figure; if it is off, take the path below.",
            quantile(0.5, DELIVERED),
            "s",
        ),
        tile(
            "Delivered TTFR p95",
            "One stream in twenty begins later than this. Far above p50: queueing, held replies or "
            "retries; take the path below.",
            quantile(0.95, DELIVERED),
            "s",
        ),
        tile(
            "Decode rate p50",
            "Tokens per second of the median stream. Fallen while acceptance is steady: load; "
            "fallen with it: see MTP.",
            quantile(0.5, TOKENS_PER_SECOND),
            TOKENS_A_SECOND,
        ),
        tile(
            "In flight",
            "Requests being worked on, waiting ones included. Steadily near the admission limit: "
            "add capacity or lower the load.",
            total(gate("requests_in_flight")),
            "none",
            no_value="no proxy",
        ),
    ]


def _begin() -> list[Json]:
    return [
        curves(
            "TTFR of streams, upstream and delivered",
            "Both move together: the engine. Delivered moves alone: hold time, retries or "
            "admission.",
            [
                Query(quantile(0.5, UPSTREAM), "upstream p50"),
                Query(quantile(0.95, UPSTREAM), "upstream p95"),
                Query(quantile(0.5, DELIVERED), "delivered p50"),
                Query(quantile(0.95, DELIVERED), "delivered p95"),
                Query(quantile(0.99, DELIVERED), "delivered p99"),
            ],
            "s",
            colours=colours.WHERE,
        ),
        heatmap(
            "Upstream TTFR, all values",
            "Two bands: two kinds of requests or a queue that comes and goes. One band that "
            "climbs: longer prompts or more load.",
            per_second(gate("upstream_time_to_first_response_seconds_bucket", STREAMS), "le"),
            "s",
        ),
        curves(
            "Time to first token, delivered",
            "To the first text, thought or tool call. Far above TTFR: the first events are empty, "
            "or windows hold the beginning back.",
            _quantiles(gate("time_to_first_token_seconds")),
            "s",
            colours=colours.QUANTILES,
        ),
    ]


def _promise() -> list[Json]:
    return [
        curves(
            "Streams that began in time",
            "Share whose TTFR keeps the promise chosen above; the target is 99 %. Requests that "
            "the engine failed count as late, streamed or not; those whose client left first do "
            "not. Below it for long: runbook ttfr-burn.",
            [
                Query(within("$slo", UPSTREAM, FAILED_A_SECOND), "upstream"),
                Query(within("$slo", DELIVERED, FAILED_A_SECOND), "delivered"),
            ],
            "percentunit",
            colours={"upstream": "light-blue", "delivered": "blue"},
            limits=(None, 1),
        ),
        curves(
            "Mean TTFR: at the proxy and inside the engine",
            "Means are exact, whatever the buckets. They are of different requests unless all of "
            "the engine's are streams through this proxy: see the panel beside.",
            [
                Query(mean(UPSTREAM), "upstream, seen by the proxy"),
                Query(mean(engine("time_to_first_token_seconds")), "first token, inside vLLM"),
            ],
            "s",
            colours={"upstream, seen by the proxy": "blue", "first token, inside vLLM": "purple"},
        ),
        curves(
            "Way to the engine",
            "The first mean less the second: network and connection. Only while nearly all are "
            "streams, and the engine counts as many first tokens as the proxy sees begin; else it "
            "would compare different requests.",
            [Query(_way_to_the_engine(), "network and connection")],
            "s",
            colours={"network and connection": colours.WARNING},
            limits=(None, None),
            no_value="not comparable: other requests too",
        ),
    ]


def _way_to_the_engine() -> str:
    inside = engine("time_to_first_token_seconds")
    whole = gate("upstream_time_to_first_response_seconds", 'stream="false"')
    as_many = f"abs({observed(UPSTREAM)} / {observed(inside)} - 1) < 0.1"
    only_streams = f"{observed(whole)} < 0.1 * {observed(UPSTREAM)}"
    return f"{mean(UPSTREAM)} - {mean(inside)} and {as_many} and {only_streams}"


def _flow() -> list[Json]:
    return [
        curves(
            "Decode rate of a stream",
            "p5 is the slowest stream in twenty. Both fall: load, or acceptance; see MTP.",
            [
                Query(quantile(0.5, TOKENS_PER_SECOND), "p50"),
                Query(quantile(0.05, TOKENS_PER_SECOND), "p5"),
            ],
            TOKENS_A_SECOND,
            colours=colours.QUANTILES,
        ),
        curves(
            "Tokens of the whole system",
            "Delivered against thrown away. A growing share of failed attempts is paid for and "
            "useless: see the faults on Contract.",
            [
                Query(per_second(gate("output_tokens_total")), "delivered"),
                Query(per_second(gate("failed_attempt_tokens_total")), "failed attempts"),
                Query(per_second(engine("generation_tokens_total")), "generated by the engine"),
            ],
            TOKENS_A_SECOND,
            colours={
                "delivered": colours.GOOD,
                "failed attempts": colours.BAD,
                "generated by the engine": "purple",
            },
        ),
    ]


def _ends() -> list[Json]:
    return [
        curves(
            "Outcomes",
            "Rejected or flagged: Contract. upstream_failed, timed_out: the engine's log. refused: "
            "clients' mistakes, or a full queue. client_gone: clients that gave up.",
            [Query(per_second(gate("requests_total"), "outcome"), "{{outcome}}")],
            "reqps",
            colours=colours.OUTCOMES,
            stacked=True,
        ),
        curves(
            "Requests by surface",
            "Only chat is judged; others are relayed and counted as unchecked.",
            [Query(per_second(gate("requests_total"), "endpoint"), "{{endpoint}}")],
            "reqps",
            stacked=True,
        ),
        curves(
            "Duration of requests",
            "From arrival to the last byte: mostly length of the reply over decode rate.",
            _quantiles(gate("request_duration_seconds")),
            "s",
            colours=colours.QUANTILES,
        ),
    ]


def _costs() -> list[Json]:
    return [
        curves(
            "Overhead of the proxy",
            "Its own time, waits excluded. p95 above 20 ms: give the machine processor time. 50 "
            "ms, where the histogram ends, means as much or more.",
            _quantiles(gate("overhead_seconds")),
            "s",
            colours=colours.QUANTILES,
        ),
        curves(
            "Gate time p95 by gate",
            "One that climbs: longer replies or a heavier schema. Judging processes are in it, "
            "judge lanes are not. 50 ms, where the histogram ends, means as much or more.",
            [Query(quantile(0.95, gate("gate_duration_seconds"), "gate"), "{{gate}}")],
            "s",
            colours=colours.GATES,
        ),
        curves(
            "Waiting p95",
            "hold: replies kept back until judged. admission: for a free place; grows when "
            "admission.concurrent is too low, or the engine too slow.",
            [
                Query(quantile(0.95, gate("hold_seconds")), "hold"),
                Query(quantile(0.95, gate("queue_seconds")), "admission"),
            ],
            "s",
            colours={"hold": "orange", "admission": "blue"},
        ),
    ]


def _losses() -> list[Json]:
    return [
        curves(
            "Records lost",
            "Above 0: the ledger or the reader of the log is too slow or gone; see the runbook "
            "ledger-dropping.",
            [
                Query(per_second(gate("ledger_dropped_total")), "ledger"),
                Query(per_second(gate("log_dropped_total")), "log lines"),
                Query(per_second(gate("records_failed_total")), "records that failed"),
            ],
            EVENTS_A_SECOND,
        ),
        curves(
            "Ledger works",
            "1 while it works; no series without a ledger. 0: the proxy says on stderr what is "
            "wrong.",
            [Query(total(gate("ledger_up"), "instance"), "{{instance}}")],
            "none",
            limits=(0, 1),
            no_value="no ledger",
        ),
        curves(
            "Waiting for admission",
            "Requests in the queue. Steadily above 0: clients send more than admission.concurrent "
            "lets through.",
            [Query(total(gate("queue_depth"), "instance"), "{{instance}}")],
            "none",
            no_value="no proxy",
        ),
    ]


def _quantiles(histogram: str) -> list[Query]:
    chosen = ((0.5, "p50"), (0.95, "p95"), (0.99, "p99"))
    return [Query(quantile(q, histogram), name) for q, name in chosen]
