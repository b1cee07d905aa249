"""What the gates cost by themselves: judging a reply, watching an event, compiling a schema.

    python benchmarks/gates.py [--quick]

No HTTP and no event loop: each figure is processor time, the least of many runs, so other programs
disturb it little. Ratios within one table say how the cost grows. Exits with 0 whatever they are.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import process_time
from timeit import Timer
from typing import Any

from asks import SCHEMA, Ask, chat_request
from axes import ITEM_BYTES
from bystanders import look_around
from contents import TEXT, completion, document
from machine import machine_facts
from tables import number, ratio, table

from proxy.gates.base import Gate
from proxy.gates.schema import LIGHT, compile_schema
from proxy.gates.strict_json import StrictJsonGate, StrictJsonOptions
from proxy.gates.tool_calls import ToolCallsGate, ToolCallsOptions
from proxy.wire.reply import Choice, Reply, ToolCall, read_reply
from proxy.wire.request import Request, read_request

_REPLY_BYTES = 2_000
_SHORTEST_SECONDS = 0.002
_REPEATS = 40


@dataclass(frozen=True, slots=True)
class Row:
    """One job. `units` is what the cost is given for; the first row of a series is its 1."""

    series: str
    size: str
    unit: str
    units: float
    job: Callable[[], object]


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description="Measure what the gates cost by themselves.")
    parser.add_argument("--quick", action="store_true", help="each job once: does it run?")
    options = parser.parse_args(arguments)
    print(look_around(), file=sys.stderr, flush=True)
    print(table(["size", "µs", "of", "to the first"], _report(options.quick)))
    print(
        *("", *(f"- {fact}" for fact in machine_facts("processor time, least of many runs"))),
        sep="\n",
    )


def _report(quick: bool) -> Iterator[list[str]]:
    first: dict[str, float] = {}
    for row in _rows():
        cost = (_once(row.job) if quick else _least(row.job)) / row.units
        compared = ratio(cost / first.setdefault(row.series, cost))
        yield [row.series, row.size, number(cost), row.unit, compared]


def _rows() -> Iterator[Row]:
    for kilobytes in (2, 8, 32, 128, 512):
        job = _judging(SCHEMA, kilobytes * 1_000)
        yield Row("strict JSON, length", f"{kilobytes} kB", "1 kB", kilobytes, job)
    for properties in (1, 10, 100, 1_000):
        job = _judging(_wide(properties), _REPLY_BYTES)
        yield Row("strict JSON, schema", f"{properties} properties", "2 kB reply", 1, job)
    for name, schema in (("common", SCHEMA), ("uncommon", {**SCHEMA, "contains": {}})):
        job = _judging(schema, _REPLY_BYTES)
        yield Row("strict JSON, keywords", name, "2 kB reply", 1, job)
    for properties in (1, 10, 100, 1_000):
        job = _compiling(_wide(properties))
        yield Row("compiling a checked schema", f"{properties} properties", "schema", 1, job)
    answer = document(_REPLY_BYTES // ITEM_BYTES)
    for kind, text in (("prose", json.dumps(TEXT)), ("records", answer)):
        for characters in (4, 14):
            pieces = _cut(text, characters)
            job = _watching(pieces)
            yield Row(f"watching {kind}", f"{characters} characters", "event", len(pieces), job)
    for characters in (40, 400, 4_000):
        yield Row("tool call", f"{characters} characters", "call", 1, _judging_call(characters))


def _judging(schema: dict[str, Any], size: int) -> Callable[[], object]:
    gate = StrictJsonGate(StrictJsonOptions())
    request = _strict(schema)
    reply = read_reply(completion(document(size // ITEM_BYTES)))
    return lambda: _passed(gate, reply, request)


def _compiling(schema: dict[str, Any]) -> Callable[[], object]:
    raw = json.dumps(schema).encode()
    return lambda: compile_schema(raw, LIGHT)


def _watching(pieces: Sequence[str]) -> Callable[[], object]:
    gate = StrictJsonGate(StrictJsonOptions())
    request = _strict(SCHEMA)

    def watch() -> None:
        eye = gate.watch(request)
        for piece in pieces:
            if eye is None or eye.feed(0, piece) is not None:
                raise AssertionError("a sound beginning was not let pass")

    return watch


def _judging_call(characters: int) -> Callable[[], object]:
    gate = ToolCallsGate(ToolCallsOptions())
    request = read_request(chat_request(Ask.CALL, stream=False))
    arguments = json.dumps({"host": "x" * characters, "port": 80})
    call = ToolCall(index=0, id="call_1", name="read_log", arguments=arguments)
    reply = Reply((Choice(0, None, tool_calls=(call,), finish_reason="tool_calls"),))
    return lambda: _passed(gate, reply, request)


def _passed(gate: Gate, reply: Reply, request: Request) -> None:
    verdict = gate.judge(reply, request)
    if verdict.result != "pass":
        raise AssertionError(f"a good reply did not pass: {verdict.reason}")


def _strict(schema: dict[str, Any]) -> Request:
    return read_request(chat_request(Ask.STRICT, stream=False, schema=schema))


def _wide(properties: int) -> dict[str, Any]:
    """The benchmark's schema with so many properties more, none of which a reply has."""
    more = {f"extra_{each}": {"type": ["string", "null"]} for each in range(properties)}
    return {**SCHEMA, "properties": {**SCHEMA["properties"], **more}}


def _cut(text: str, characters: int) -> list[str]:
    return [text[begin : begin + characters] for begin in range(0, len(text), characters)]


def _once(job: Callable[[], object]) -> float:
    return Timer(job).timeit(1) * 1e6


def _least(job: Callable[[], object]) -> float:
    """Microseconds of the cheapest run."""
    timer = Timer(job, timer=process_time)
    count = 1
    while timer.timeit(count) < _SHORTEST_SECONDS:
        count *= 2
    return min(timer.repeat(_REPEATS, count)) / count * 1e6


if __name__ == "__main__":
    main(sys.argv[1:])
