"""Assembles the tool calls of one choice from the pieces that stream deltas bring."""

import json
from dataclasses import dataclass, field
from typing import Any

from proxy.wire.lenient import is_whole, text_of


@dataclass(slots=True)
class CallParts:
    """One call so far; `position` counts the calls of its choice in the order they began."""

    index: int
    position: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    def add(self, call_id: str, name: str, arguments: str) -> None:
        self.id = self.id or call_id
        if name != self.name:  # some servers repeat the whole name in every delta
            self.name += name
        self.arguments.append(arguments)


class CallAssembly:
    """All calls of one choice, by their index."""

    def __init__(self) -> None:
        self._calls: dict[int, CallParts] = {}
        self._open: CallParts | None = None

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def calls(self) -> list[CallParts]:
        return list(self._calls.values())

    def add(self, call: dict[str, Any]) -> CallParts:
        """Take one item of a delta's `tool_calls`; return the call that it belongs to."""
        call_id, name, arguments = call_texts(call)
        parts = self._call_at(call.get("index"), call_id, name)
        parts.add(call_id, name, arguments)
        self._open = parts
        return parts

    def _call_at(self, index: object, call_id: str, name: str) -> CallParts:
        """The call that a delta continues; without an index, a new id or a name opens a call."""
        if not is_whole(index):
            if call_id:
                known = next((call for call in self._calls.values() if call.id == call_id), None)
            else:
                known = None if name else self._open
            if known is not None:
                return known
            index = max(self._calls, default=-1) + 1
        return self._calls.setdefault(index, CallParts(index, len(self._calls)))


def call_texts(call: dict[str, Any]) -> tuple[str, str, str]:
    """Id, function name and arguments of a call; arguments that are no text become JSON."""
    function = call.get("function")
    if not isinstance(function, dict):
        function = {}
    arguments = function.get("arguments")
    if arguments is None:
        arguments = ""
    elif not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return text_of(call.get("id")) or "", text_of(function.get("name")) or "", arguments
