"""What the cost is measured against, and the requests that show it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from asks import SCHEMA, Ask, chat_request
from contents import STREAM_TOKENS

EVENT_BYTES = 15
ITEM_BYTES = 95
STREAMS_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Case:
    """One load. `units` is what one reply has of what the cost is given for."""

    body: bytes
    kind: str
    units: int
    count: int
    concurrency: int = STREAMS_AT_ONCE
    policies: int = 1


@dataclass(frozen=True, slots=True)
class Axis:
    """`is_length`: the size is the number of units in a reply, so that an equal cost of each unit
    is linear growth; else an equal cost is none at all.
    """

    name: str
    counted: str
    unit: str
    sizes: tuple[int, ...]
    case: Callable[[int], Case]
    is_length: bool = True


_LENGTHS = (128, 512, 2048, 8192)


def _stream(ask: Ask, total_events: int) -> Callable[[int], Case]:
    """Streams of so many events, as many streams as make up the total."""

    def case(events: int) -> Case:
        body = chat_request(
            ask,
            stream=True,
            stream_events=events,
            document_items=max(1, events * EVENT_BYTES // ITEM_BYTES),
        )
        return Case(body, "stream", events, _at_least(total_events // events))

    return case


def _whole_document(kilobytes: int) -> Case:
    items = kilobytes * 1000 // ITEM_BYTES
    body = chat_request(Ask.STRICT, stream=False, document_items=items)
    return Case(body, "json", kilobytes, _at_least(2048 // kilobytes))


def _policies(count: int) -> Case:
    body = chat_request(Ask.PLAIN, stream=True)
    return Case(body, "stream", STREAM_TOKENS, 400, policies=count)


def _schema(properties: int) -> Case:
    body = chat_request(Ask.STRICT, stream=True, schema=_wide(properties))
    return Case(body, "stream", STREAM_TOKENS, 200)


def _wide(properties: int) -> dict[str, Any]:
    """The benchmark's schema with so many properties more, each of a type of its own."""
    more = {
        f"extra_{number}": {"type": "object", "properties": {"value": {"type": "string"}}}
        for number in range(properties)
    }
    wide: dict[str, Any] = json.loads(json.dumps(SCHEMA))
    wide["properties"] |= more
    return wide


def _at_once(streams: int) -> Case:
    body = chat_request(Ask.PLAIN, stream=True)
    return Case(body, "stream", STREAM_TOKENS, 512, concurrency=streams)


def _at_least(count: int) -> int:
    return max(4, count)


AXES = (
    Axis("passed stream", "events of the reply", "one event", _LENGTHS, _stream(Ask.PLAIN, 65_536)),
    Axis(
        "windowed stream",
        "events of the reply",
        "one event",
        _LENGTHS,
        _stream(Ask.OFFERED, 16_384),
    ),
    Axis(
        "held JSON stream",
        "events of the reply",
        "one event",
        _LENGTHS,
        _stream(Ask.STRICT, 16_384),
    ),
    Axis(
        "tool call stream", "events of the reply", "one event", _LENGTHS, _stream(Ask.CALL, 16_384)
    ),
    Axis("whole JSON reply", "kB of the reply", "one kB", (2, 8, 32, 128, 512), _whole_document),
    Axis("policies", "policies in force", "one event", (1, 10, 100), _policies, is_length=False),
    Axis(
        "schema",
        "properties of the schema",
        "one event",
        (1, 10, 100, 1000),
        _schema,
        is_length=False,
    ),
    Axis(
        "streams at once",
        "passed streams at once",
        "one event",
        (1, 8, 32, 128, 256),
        _at_once,
        is_length=False,
    ),
)
