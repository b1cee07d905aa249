"""Puts new arguments into tool calls as they were received; all else stays byte for byte."""

import json
from collections.abc import Mapping

from proxy.wire.call_parts import CallAssembly, call_texts
from proxy.wire.splice import items_of, members_of, with_members


def calls_with_arguments(calls: bytes, arguments: Mapping[int, str]) -> bytes:
    """The `tool_calls` of a whole message, with new arguments by position."""
    items: list[bytes] = []
    position = 0
    for item in items_of(calls):
        if not item.startswith(b"{"):
            items.append(item)
            continue
        new = arguments.get(position)
        items.append(item if new is None else _with_arguments(item, new))
        position += 1
    return _list(items)


class CallRewriter:
    """Rewrites the call pieces of one choice of one stream, event by event."""

    def __init__(self, arguments: Mapping[int, str]) -> None:
        self._arguments = arguments
        self._assembly = CallAssembly()
        self._written: set[int] = set()

    def edited(self, calls: bytes) -> bytes | None:
        """One delta's `tool_calls`: a call's first piece bears all of its new arguments.

        Pieces that are left with nothing are dropped; None when none is left.
        """
        before = items_of(calls)
        after = [edited for item in before if (edited := self._edited(item)) is not None]
        if after == before:
            return calls
        return _list(after) if after else None

    def _edited(self, item: bytes) -> bytes | None:
        if not item.startswith(b"{"):
            return item
        piece = json.loads(item)
        position = self._assembly.add(piece).position
        new = self._arguments.get(position)
        if new is None:
            return item
        if position not in self._written:
            self._written.add(position)
            return _with_arguments(item, new)
        call_id, name, old = call_texts(piece)
        if not (call_id or name):
            return None
        return _with_arguments(item, "") if old else item


def _with_arguments(call: bytes, arguments: str) -> bytes:
    function = members_of(call).get("function", b"")
    if not function.startswith(b"{"):
        function = b"{}"
    changes = {"arguments": json.dumps(arguments).encode()}
    return with_members(call, {"function": with_members(function, changes)})


def _list(items: list[bytes]) -> bytes:
    return b"[" + b",".join(items) + b"]"
