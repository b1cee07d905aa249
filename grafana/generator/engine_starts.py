"""Engine starts: their first strict-JSON answers with the sample's size, and their states."""

from typing import Final

from grafana.generator import colours
from grafana.generator.panels import Json, Judgement, Query, Words, curves, tile
from grafana.generator.promql import events, gate, per_second, so_far, total, wilson

LANE: Final = 'lane=~"$lane"'
_STARTS: Final = gate("engine_starts_total", LANE, 'first_answer=~"valid|invalid"')
_INVALID_STARTS: Final = gate("engine_starts_total", LANE, 'first_answer="invalid"')
_COLD_HELP: Final = (
    "Only starts whose first strict-JSON answer was judged in this time range; of one proxy that "
    "was started several times in it, some may be missing. `sluicegate ledger starts` has all, "
    "and tells clean samples apart."
)
_NO_STARTS: Final = "no start in this range"


def cold_starts() -> list[Json]:
    """How many starts were judged, how many began badly, and how sure that is."""
    starts, invalid = events(_STARTS), events(_INVALID_STARTS)
    seen = f"({starts} > 0)"
    by_fallback = gate("engine_starts_told_by", LANE, 'source="fallback"')
    return [
        tile(
            "Starts judged (n)",
            f"The sample size of the shares below it. {_COLD_HELP}",
            starts,
            "none",
            no_value="no proxy",
        ),
        tile(
            "First answer invalid",
            f"How many of them began with an answer that was not valid. {_COLD_HELP} Runbook: "
            "cold-start-invalid.",
            invalid,
            "none",
            judgement=Judgement(1, 3),
            no_value="no proxy",
        ),
        tile(
            "Cold retries that helped",
            "Identical repetitions on a cold engine that were valid, in this time range.",
            events(gate("attempts_total", 'step="cold"', 'result="valid"')),
            "none",
            no_value="no proxy",
        ),
        tile(
            "Cold retries that did not",
            "Identical repetitions on a cold engine that were invalid again; the ladder went on.",
            events(gate("attempts_total", 'step="cold"', 'result="invalid"')),
            "none",
            no_value="no proxy",
        ),
        tile(
            "Share invalid",
            f"Read it with the interval beside it: few starts say little. {_COLD_HELP}",
            f"{invalid} / {seen}",
            "percentunit",
            no_value=_NO_STARTS,
        ),
        tile(
            "95 % interval, from",
            f"Lower end of Wilson's interval: the true rate is hardly below it. {_COLD_HELP}",
            f"clamp_min({wilson(invalid, seen, '-')}, 0)",
            "percentunit",
            no_value=_NO_STARTS,
        ),
        tile(
            "95 % interval, to",
            f"Upper end of Wilson's interval: the true rate is hardly above it. {_COLD_HELP}",
            f"clamp_max({wilson(invalid, seen, '+')}, 1)",
            "percentunit",
            no_value=_NO_STARTS,
        ),
        tile(
            "Starts told by",
            "metrics: vLLM's own start time tells starts apart. fallback: it cannot be read, so "
            "every outage counts as a start; see docs/operations.md.",
            f"max({by_fallback})",
            "none",
            words=Words({0: ("metrics", colours.GOOD), 1: ("fallback", colours.WARNING)}),
            no_value="no proxy",
        ),
    ]


def engine_states() -> list[Json]:
    """What engines are doing, and who waits for them."""
    return [
        curves(
            "Engine state",
            "cold for long: nobody asks for strict JSON, or no answer is valid. unreachable: "
            "runbook upstream-down.",
            [Query(total(gate("engine_state", LANE), "lane", "state"), "{{lane}}: {{state}}")],
            "none",
            colours=colours.ENGINE_STATES,
            stacked=True,
            no_value="no proxy",
        ),
        curves(
            "Engine starts by first answer",
            "All since each proxy was started. A step up in invalid: runbook cold-start-invalid. "
            "unknown: the start was over before an answer was judged.",
            [
                Query(
                    total(so_far(gate("engine_starts_total", LANE)), "first_answer"),
                    "{{first_answer}}",
                )
            ],
            "none",
            colours=colours.FIRST_ANSWERS,
            no_value="no proxy",
        ),
        curves(
            "Waiting for an engine",
            "Requests that wait while it is away or probed. refused: there was no room, or the "
            "time was over; raise ready_wait_seconds or start sooner.",
            [
                Query(total(gate("ready_waiting")), "waiting now"),
                Query(per_second(gate("ready_waits_total"), "result"), "{{result}} per second"),
            ],
            "none",
            no_value="no proxy",
        ),
    ]
