"""Finds a tool call in a finished text; also one that is the whole text, without any mark.

Such a call is JSON with the name of a tool, or any call alone in one Markdown fence.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from proxy.gates.call_markup import CallScanner
from proxy.gates.json_prefix import Finding, Limits
from proxy.gates.strict_reading import read_document

_FENCED = re.compile(r"\s*```[\w-]*[ \t]*\n(?P<inside>.*?)```\s*", re.DOTALL)
_LEFT_OVER = re.compile(r"\s*(?:</?tool_calls?>\s*)+\Z")
_BEGINS = re.compile(
    r"\s*(?:```[\w-]*\s*)?\[?\s*\{\s*\"(?:name|arguments|parameters|type|id|function|tool_calls)\""
)
_MAY_BEGIN = re.compile(r"\s*(?:`{1,2}|(?:```[\w-]*\s*)?\[?\s*(?:\{\s*(?:\"\w{0,10})?)?)")
_BEGINS_CONTAINER = re.compile(r"[ \t\n\r]*+[{\[]")
_DECIDED_BY = 128
_KEYS = frozenset({"name", "arguments", "parameters", "id", "type", "index"})
_ARGUMENTS = ("arguments", "parameters")


@dataclass(frozen=True, slots=True)
class FoundCall:
    """`is_closed`: the text ends in mark-up, so the call is not cut."""

    is_closed: bool


def find_call(
    text: str, names: Collection[str], limits: Limits, *, may_be_bare: bool
) -> FoundCall | None:
    """A call that was left in a text, if there is one."""
    if not text:
        return None
    scanner = CallScanner(names)
    if scanner.feed(text) or scanner.finish():
        return FoundCall(scanner.ends_in_markup)
    return FoundCall(is_closed=True) if may_be_bare and _is_bare(text, names, limits) else None


def _is_bare(text: str, names: Collection[str], limits: Limits) -> bool:
    fenced = _FENCED.fullmatch(text)
    inside = fenced["inside"] if fenced else text
    if fenced and _is_marked(inside, names):
        return True
    if not _BEGINS_CONTAINER.match(inside):
        return False
    reading = read_document(_LEFT_OVER.sub("", inside), limits)
    return not isinstance(reading, Finding) and _is_call(reading.value, names)


def _is_marked(inside: str, names: Collection[str]) -> bool:
    scanner = CallScanner(names)
    found = scanner.feed(inside) or scanner.finish()
    return found is not None and found.name in names and not inside[: found.at].strip()


class BareBeginning:
    """Says of a text that arrives whether it may become a bare call."""

    def __init__(self) -> None:
        self._text = ""
        self._decided: bool | None = None

    def feed(self, piece: str) -> None:
        if self._decided is not None:
            return
        self._text += piece
        if _BEGINS.match(self._text):
            self._decided = True
        elif len(self._text) > _DECIDED_BY or not _MAY_BEGIN.fullmatch(self._text):
            self._decided = False

    @property
    def suspects(self) -> bool:
        return bool(self._text.strip()) if self._decided is None else self._decided


def _is_call(value: Any, names: Collection[str]) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_call(item, names) for item in value)
    if not isinstance(value, dict):
        return False
    if value.keys() == {"tool_calls"}:
        return _is_call(value["tool_calls"], names)
    if isinstance(value.get("function"), dict) and value.keys() <= {"function", *_KEYS}:
        return _is_call(value["function"], names)
    name = value.get("name")
    has_arguments = any(isinstance(value.get(key), (dict, str)) for key in _ARGUMENTS)
    return value.keys() <= _KEYS and isinstance(name, str) and name in names and has_arguments
