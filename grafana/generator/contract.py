"""Contract: what the gates found, what was done about it, and how engines began."""

from typing import Final

from grafana.generator import colours
from grafana.generator.dashboard import Dashboard, choice, engines, proxies
from grafana.generator.engine_starts import LANE, cold_starts, engine_states
from grafana.generator.layout import Row, side_by_side, tiles
from grafana.generator.panels import EVENTS_A_SECOND, Json, Judgement, Query, curves, tile
from grafana.generator.promql import (
    events,
    gate,
    per_second,
    quantile,
    ratio,
    share,
    total,
)
from grafana.generator.series import GATE_RETRIES, RETRIES

JUDGED: Final = 'result=~"pass|fail"'


def contract() -> Dashboard:
    lane = choice("lane", "lane", 'label_values(sluicegate_engine_state{job=~"$job"}, lane)')
    return Dashboard(
        uid="sluicegate-contract",
        title="Sluicegate / Contract",
        description="Verdicts, faults, retries, repairs, what went unjudged, and cold starts.",
        variables=[*proxies(), *engines(), lane],
        rows=[
            Row("", [tiles(*_now())]),
            Row("What do the gates say?", [side_by_side(*_verdicts())]),
            Row("What is wrong with the replies?", [side_by_side(*_faults())]),
            Row("Do retries help?", [side_by_side(*_retries())]),
            Row("What was done to replies?", [side_by_side(*_deeds())]),
            Row("What was not judged?", [side_by_side(*_unjudged())]),
            Row("How do engines begin?", [tiles(*cold_starts())]),
            Row("What state are engines in?", [side_by_side(*engine_states())]),
            Row("What do judging and probing cost?", [side_by_side(*_judging())], collapsed=True),
        ],
    )


def _now() -> list[Json]:
    return [
        tile(
            "Strict JSON that fails",
            "Share of judged attempts that were no strict JSON of their schema. See the faults "
            "below: leading_junk points to speculative decoding, truncated to max_tokens.",
            share("verdicts_total", 'result="fail"', f'gate="strict_json",{JUDGED}'),
            "percentunit",
            judgement=Judgement(0.05, 0.2),
            no_value="none judged",
        ),
        tile(
            "Tool calls that fail",
            "Share of judged attempts whose calls could not be executed. See the faults below; "
            "call_in_text points to the tool parser of the engine.",
            share("verdicts_total", 'result="fail"', f'gate="tool_calls",{JUDGED}'),
            "percentunit",
            judgement=Judgement(0.05, 0.2),
            no_value="none judged",
        ),
        tile(
            "Retries that helped",
            "Share of further attempts that were valid, after a verdict; calls that the engine "
            "failed are left out. Low: retries only cost tokens; change the ladder or the model.",
            share("attempts_total", 'result="valid"', GATE_RETRIES),
            "percentunit",
            no_value="no retries",
        ),
        tile(
            "Rejected",
            "Requests that a gate refused in the end, in this time range.",
            events(gate("requests_total", 'outcome="rejected"')),
            "none",
            no_value="no proxy",
        ),
        tile(
            "Kept for people",
            "Replies flagged or parked in this time range: somebody should look at them.",
            events(gate("requests_total", 'outcome=~"flagged|parked"')),
            "none",
            no_value="no proxy",
        ),
        tile(
            "Gate errors",
            "Judgements that failed themselves, in this time range. Above 0: the log says why; the "
            "policy's on_error decided what clients got.",
            events(gate("verdicts_total", 'result="error"')),
            "none",
            judgement=Judgement(1, 10),
            no_value="no proxy",
        ),
        tile(
            "Not judged",
            "Replies, or parts of a contract, that went through unjudged in this time range; the "
            "row below says why.",
            events(gate("unchecked_total")),
            "none",
            no_value="no proxy",
        ),
        tile(
            "Engines certified",
            "Share of lanes whose engine has given a valid strict-JSON answer since its start.",
            ratio(
                total(gate("engine_state", LANE, 'state="certified"')),
                total(gate("engine_state", LANE)),
            ),
            "percentunit",
            no_value="no proxy",
        ),
    ]


def _verdicts() -> list[Json]:
    return [
        curves(
            "Verdicts",
            "fail: see the faults. error: a gate that cannot judge; see the log. skip: nothing in "
            "the reply for the gate.",
            [Query(per_second(gate("verdicts_total"), "result"), "{{result}}")],
            EVENTS_A_SECOND,
            colours=colours.VERDICTS,
            stacked=True,
        ),
        curves(
            "Failures by gate",
            "Which promise is broken. The gate's page in docs/gates says what it demands.",
            [Query(per_second(gate("verdicts_total", 'result="fail"'), "gate"), "{{gate}}")],
            EVENTS_A_SECOND,
            colours=colours.GATES,
        ),
        curves(
            "Share that fails, by gate",
            "A step up after a mark: the new policy, or the new engine start, is the cause.",
            [
                Query(
                    share("verdicts_total", 'result="fail"', JUDGED, "gate"),
                    "{{gate}}",
                )
            ],
            "percentunit",
            colours=colours.GATES,
            limits=(0, 1),
            no_value="none judged",
        ),
    ]


def _faults() -> list[Json]:
    return [
        curves(
            "Faults by class",
            "docs/errors.md says what each means and what to do. Only classes that occur are "
            "shown.",
            [Query(f"{per_second(gate('faults_total'), 'fault')} > 0", "{{fault}}")],
            EVENTS_A_SECOND,
            stacked=True,
            no_value="no faults",
        ),
        curves(
            "Faults of the engine's connection",
            "unreachable: not running. timeout, idle: too slow, or hung. error_in_stream: its log.",
            [
                Query(
                    per_second(
                        gate(
                            "faults_total",
                            'fault=~"upstream_.+|stream_unfinished|error_in_stream"',
                        ),
                        "fault",
                    ),
                    "{{fault}}",
                )
            ],
            EVENTS_A_SECOND,
        ),
    ]


def _retries() -> list[Json]:
    return [
        curves(
            "Further attempts",
            "Each step by how it came out. Many invalid ones: the step does not help with this "
            "fault.",
            [
                Query(
                    f"{per_second(gate('attempts_total', RETRIES), 'step', 'result')} > 0",
                    "{{step}}: {{result}}",
                )
            ],
            EVENTS_A_SECOND,
            stacked=True,
            no_value="no retries",
        ),
        curves(
            "Share that helped, by step",
            "Drop a step of the ladder that helps seldom; it costs time and tokens.",
            [Query(share("attempts_total", 'result="valid"', RETRIES, "step"), "{{step}}")],
            "percentunit",
            colours=colours.STEPS,
            limits=(0, 1),
            no_value="no retries",
        ),
        curves(
            "Attempts by result",
            "relayed: no enforced gate judged it. upstream_fault: refused, failed or left "
            "unanswered by the engine; see its log. abandoned: the client left, or time was over.",
            [Query(per_second(gate("attempts_total"), "result"), "{{result}}")],
            EVENTS_A_SECOND,
            colours=colours.ATTEMPTS,
            stacked=True,
        ),
    ]


def _deeds() -> list[Json]:
    return [
        curves(
            "Repairs",
            "Each changes the form of a reply, none a value. Many of one kind: mend it at the "
            "engine (reasoning parser, prompt).",
            [Query(f"{per_second(gate('repairs_total'), 'repair')} > 0", "{{repair}}")],
            EVENTS_A_SECOND,
            stacked=True,
            no_value="no repairs",
        ),
        curves(
            "Flagged, parked, rejected",
            "flagged was delivered, parked and rejected were not. Look-up by request id says which "
            "gate and why.",
            [
                Query(
                    per_second(
                        gate("requests_total", 'outcome=~"flagged|parked|rejected"'), "outcome"
                    ),
                    "{{outcome}}",
                )
            ],
            "reqps",
            colours=colours.OUTCOMES,
        ),
        curves(
            "Tokens thrown away",
            "Share of output tokens that belonged to attempts which were not delivered.",
            [
                Query(
                    ratio(
                        per_second(gate("failed_attempt_tokens_total")),
                        f"({per_second(gate('failed_attempt_tokens_total'))} "
                        f"+ {per_second(gate('output_tokens_total'))})",
                    ),
                    "failed attempts",
                )
            ],
            "percentunit",
            limits=(0, 1),
            colours={"failed attempts": colours.BAD},
        ),
    ]


def _unjudged() -> list[Json]:
    return [
        curves(
            "Unchecked by reason",
            "no_policy: no policy covers the request. surface: not chat. pattern: a schema's "
            "pattern that RE2 cannot read. claims: a judge did not answer.",
            [Query(per_second(gate("unchecked_total"), "reason"), "{{reason}}")],
            EVENTS_A_SECOND,
            stacked=True,
        ),
        curves(
            "Share of attempts that no gate judged",
            "relayed among all attempts. Higher than expected: the policy's match, or gates that "
            "only observe.",
            [Query(share("attempts_total", 'result="relayed"'), "relayed")],
            "percentunit",
            limits=(0, 1),
            colours={"relayed": colours.ATTEMPTS["relayed"]},
        ),
    ]


def _judging() -> list[Json]:
    return [
        curves(
            "Calls of judge lanes",
            "unreadable or timed_out: choose another model as the judge, or give it more time.",
            [
                Query(per_second(gate("judge_calls_total"), "result"), "{{result}}"),
                Query(per_second(gate("hints_cleared_total")), "hints cleared"),
            ],
            EVENTS_A_SECOND,
        ),
        curves(
            "Time of judge lanes",
            "Adds to hold time where a policy asks a judge. Above its time_limit_seconds the hint "
            "stays.",
            [
                Query(quantile(0.5, gate("judge_seconds")), "p50"),
                Query(quantile(0.95, gate("judge_seconds")), "p95"),
            ],
            "s",
            colours=colours.QUANTILES,
            no_value="no judge asked",
        ),
        curves(
            "Probes",
            "Requests of the proxy's own on new engine starts. invalid ones are the fault it is "
            "there to take; failed: no answer.",
            [Query(per_second(gate("probes_total", LANE), "result"), "{{result}}")],
            EVENTS_A_SECOND,
            no_value="no probe",
        ),
    ]
