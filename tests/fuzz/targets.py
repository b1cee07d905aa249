"""The targets by name."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.fuzz import json_targets, wire_targets


@dataclass(frozen=True, slots=True)
class Target:
    """A check of any bytes, the word list that suits it, and whether its lines hold JSON."""

    check: Callable[[bytes], None]
    words: str = "chat"
    holds_json: bool = True


TARGETS = {
    "sse": Target(wire_targets.sse, "sse", holds_json=False),
    "events": Target(wire_targets.events),
    "reply": Target(wire_targets.reply),
    "request": Target(wire_targets.request),
    "splice": Target(wire_targets.splice),
    "rewrite": Target(wire_targets.rewrite),
    "json": Target(json_targets.strict_json, "json", holds_json=False),
    "schema": Target(json_targets.schema, "schema"),
}
