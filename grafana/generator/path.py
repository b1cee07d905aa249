"""The path from "it is slow" to model, recipe, gate or network: a text, and tiles in its order."""

from typing import Final

from grafana.generator.layout import Block
from grafana.generator.panels import Json, Judgement, tile, words
from grafana.generator.promql import engine, gate, mean, per_second, quantile, ratio, total
from grafana.generator.series import (
    ACCEPTANCE,
    RETRIES,
    SPECULATION_OFF,
    UPSTREAM,
    speculative,
)

_PATH: Final = """\
The first tile that is out of line is the answer:

1. **Engine queue** above 0, **upstream TTFR** high: the **model**, or what is asked of it. Queue:
   *MTP*, "Is the engine full?". No queue: longer prompts, another model.
2. **Acceptance** fallen, or "speculation off": the **recipe**; *MTP*: is it contradicted?
3. **Way to the engine** long: the **network** behind the proxy.
4. **Hold time** or **retries** high: the **gate**; *Contract* says which and why. **Gate time** or
   **overhead** high: the proxy; "What does the gate cost?".
5. All in line: the **network** before the proxy, or the client. Compare its clock with **delivered
   TTFR**; look for `client_gone`.
"""


def whose_fault() -> list[Block]:
    """The text and, in the order in which it is read, eight tiles."""
    path = Block([words("Whose fault?", _PATH)], 8, 10)
    return [path, Block([*_engine_side(), *_gate_side()], 4, 5)]


def _engine_side() -> list[Json]:
    return [
        tile(
            "Engine queue",
            "Requests that wait inside vLLM. Above 0 for long: more load than max_num_seqs takes; "
            "lower admission.concurrent or add an engine.",
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
        tile(
            "Way to the engine",
            "Mean upstream TTFR of streams less vLLM's own mean time to first token: network and "
            "connection. Only right while all requests of the engine are streams through this "
            "proxy.",
            f"{mean(UPSTREAM)} - {mean(engine('time_to_first_token_seconds'))}",
            "s",
        ),
    ]


def _gate_side() -> list[Json]:
    return [
        tile(
            "Hold time p95",
            "How much later replies begin because they are held until judged. That is the price "
            "of a held contract; see Contract for retries if it grew.",
            quantile(0.95, gate("hold_seconds")),
            "s",
        ),
        tile(
            "Retries",
            "Attempts beyond the first, for each request that reached the engine. Grown: see on "
            "Contract which fault and which step.",
            ratio(
                per_second(gate("attempts_total", RETRIES)),
                per_second(gate("attempts_total", 'step="first"')),
            ),
            "percentunit",
            judgement=Judgement(0.1, 0.5),
        ),
        tile(
            "Gate time p95",
            "Time of one gate on one reply. 50 ms, where the histogram ends, means as much or "
            "more, as for very long replies or schemas. The row on cost says which gate.",
            quantile(0.95, gate("gate_duration_seconds")),
            "s",
            judgement=Judgement(0.02, 0.05),
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
