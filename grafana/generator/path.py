"""The path from "it is slow" to model, recipe, gate or network: a text, and tiles in its order."""

from typing import Final

from grafana.generator.layout import Block
from grafana.generator.panels import Json, Judgement, tile, words
from grafana.generator.promql import engine, gate, per_second, quantile, ratio, total
from grafana.generator.series import (
    ACCEPTANCE,
    FAILED_A_SECOND,
    GATE_RETRIES,
    SPECULATION_OFF,
    UPSTREAM,
    speculative,
)

_PATH: Final = """\
The first tile that is out of line is the answer:

1. **Failed by the engine** above 0, or requests **in flight** while none ends: the **engine** fails
   or hangs. Its log; *Contract*, "Attempts by result".
2. **Engine queue** above 0, **upstream TTFR** high: the **model**, or what is asked of it. Queue:
   *MTP*, "Is the engine full?". No queue: longer prompts, another model; or the **network** behind
   the proxy: "Way to the engine", below.
3. **Acceptance** fallen, or "speculation off": the **recipe**; *MTP*: is it contradicted?
4. **Admission wait** high: more **load** than `admission.concurrent` lets through. Raise that only
   while the engine has no queue.
5. **Hold time** or **retries** high: the **gate**; *Contract* says which and why.
6. **Overhead** high: the **proxy**; "What does the gate cost?".
7. All in line: the **network** before the proxy, or the client. Compare its clock with **delivered
   TTFR**; look for `client_gone`.
"""
# Requests that the engine failed, and those that it failed once and that were then repeated.
_CALLED_AGAIN: Final = gate("attempts_total", 'step="upstream_fault"', 'result!="upstream_fault"')
_BY_THE_ENGINE: Final = ratio(
    f"({FAILED_A_SECOND} + {per_second(_CALLED_AGAIN)})",
    per_second(gate("requests_total", 'outcome!="refused"')),
)


def whose_fault() -> list[Block]:
    """The text and, in the order in which it is read, eight tiles."""
    path = Block([words("Whose fault?", _PATH)], 8, 12)
    return [path, Block([*_engine_side(), *_proxy_side()], 4, 6)]


def _engine_side() -> list[Json]:
    return [
        tile(
            "Failed by the engine",
            "Share of requests that it failed or left unanswered, those that a second call saved "
            "included. Above 0: its log, and runbook upstream-failing.",
            f"clamp_max({_BY_THE_ENGINE}, 1)",
            "percentunit",
            judgement=Judgement(0.01, 0.05),
        ),
        tile(
            "Engine queue",
            "Requests that wait inside vLLM. Above 0 for long: more load than max_num_seqs takes; "
            "lower admission.concurrent (then they wait there) or add an engine.",
            total(engine("num_requests_waiting")),
            "none",
            judgement=Judgement(1, 8),
            no_value="no engine",
        ),
        tile(
            "Upstream TTFR p95",
            "From dispatch to the engine's first event, for each attempt: nothing of ours is in "
            "it. High here: the engine, or the way to it.",
            quantile(0.95, UPSTREAM),
            "s",
        ),
        tile(
            "Acceptance",
            "Share of draft tokens that the model accepted. Well below its usual value: other "
            "texts than usual, or another recipe or vLLM; see MTP.",
            speculative(ACCEPTANCE),
            "percentunit",
            words=SPECULATION_OFF,
            no_value="no drafts",
        ),
    ]


def _proxy_side() -> list[Json]:
    return [
        tile(
            "Admission wait p95",
            "Wait for a free place in the proxy. Grown: more load than admission.concurrent lets "
            "through; raise that while the engine has no queue, else add an engine.",
            quantile(0.95, gate("queue_seconds")),
            "s",
            judgement=Judgement(0.1, 1),
        ),
        tile(
            "Hold time p95",
            "How much later replies begin because they are held until judged. That is the price "
            "of a held contract; see Contract for retries if it grew.",
            quantile(0.95, gate("hold_seconds")),
            "s",
        ),
        tile(
            "Retries",
            "Further attempts after a verdict, for each request that reached the engine. Grown: "
            "see on Contract which fault and which step. Calls that the engine failed are in the "
            "first tile.",
            ratio(
                per_second(gate("attempts_total", GATE_RETRIES)),
                per_second(gate("attempts_total", 'step="first"')),
            ),
            "percentunit",
            judgement=Judgement(0.1, 0.5),
        ),
        tile(
            "Overhead p95",
            "The proxy's own time for a request, waits excluded. Above 20 ms: the machine is short "
            "of processor time. 50 ms, where the histogram ends, means as much or more.",
            quantile(0.95, gate("overhead_seconds")),
            "s",
            judgement=Judgement(0.01, 0.02),
        ),
    ]
