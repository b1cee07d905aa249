"""Change members of a JSON object in its bytes, and leave every other byte as it was.

So number spellings, key order, white space and vendor fields survive what the proxy changes.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Never

_MOST_MEMBERS = 10_000
_MOST_ITEMS = 100_000
_SPACE = r"[ \t\n\r]*"
_OPEN_OBJECT = re.compile(_SPACE + r"\{")
_OPEN_ARRAY = re.compile(_SPACE + r"\[")
_CLOSE_OBJECT = re.compile(_SPACE + r"\}" + _SPACE)
_CLOSE_ARRAY = re.compile(_SPACE + r"\]" + _SPACE)
_FIRST = re.compile(_SPACE)
_COLON = re.compile(_SPACE + ":" + _SPACE)
_COMMA = re.compile(_SPACE + "," + _SPACE)


class TooMany(ValueError):
    """So many members or items that looking at each would hold up the event loop."""


class _Member(NamedTuple):
    """Where one member lies in the text: its name, its value, and the value's end."""

    name: str
    start: int
    value_start: int
    end: int


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not a JSON value")


# Hops over a value at C speed. Numbers stay text: no limit on digits, nothing to convert.
_HOP = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse_constant)


def with_members(body: bytes, changes: Mapping[str, bytes | None]) -> bytes:
    """Set members to JSON values, or remove those whose value is None.

    An existing member keeps its place; of several with one name the first is kept. New members
    come last. Raises `ValueError` when the body is not one JSON object in UTF-8, and `TooMany`
    beyond 10,000 members.
    """
    text = body.decode()
    opened, members = _scan_object(text)
    pieces: list[str] = []
    seen: set[str] = set()
    gap = text[opened : members[0].start] if members else ""
    end = opened
    for member in members:
        if pieces:
            gap = text[end : member.start]
        end = member.end
        value = changes.get(member.name)
        if member.name not in changes:
            pieces += gap, text[member.start : end]
        elif value is not None and member.name not in seen:
            pieces += gap, text[member.start : member.value_start], value.decode()
        seen.add(member.name)
    for name, value in changes.items():
        if value is not None and name not in seen:
            pieces += "," if pieces else "", json.dumps(name), ":", value.decode()
    return "".join((text[:opened], *pieces, text[end:])).encode()


def members_of(body: bytes) -> dict[str, bytes]:
    """The raw value of each member; of several with one name the last, as JSON readers do.

    Raises `ValueError` when the body is not one JSON object in UTF-8, and `TooMany` beyond
    10,000 members.
    """
    text = body.decode()
    _, members = _scan_object(text)
    return {member.name: text[member.value_start : member.end].encode() for member in members}


def items_of(array: bytes) -> list[bytes]:
    """The raw items of a JSON array. Raises `ValueError` when it is none or has over 100,000."""
    text = array.decode()
    at = _expect("an array", _OPEN_ARRAY, text, 0)
    items: list[bytes] = []
    while not _closes(_CLOSE_ARRAY, text, at):
        if len(items) == _MOST_ITEMS:
            raise TooMany("more than 100,000 items")
        at = _expect("a comma or the end", _COMMA if items else _FIRST, text, at)
        _, end = _hop(text, at)
        items.append(text[at:end].encode())
        at = end
    return items


def with_items(array: bytes, items: Sequence[bytes]) -> bytes:
    """Append JSON values to a JSON array, whose own items are not looked at.

    Raises `ValueError` when the brackets are missing or over 100,000 values are appended.
    """
    if len(items) > _MOST_ITEMS:
        raise TooMany("more than 100,000 items")
    inside = array.strip()
    if len(inside) < len(b"[]") or not (inside.startswith(b"[") and inside.endswith(b"]")):
        raise ValueError("not a JSON array")
    if not items:
        return array
    closed = array.rindex(b"]")
    comma = b"," if inside[1:-1].strip() else b""
    return array[:closed] + comma + b",".join(items) + array[closed:]


def _scan_object(text: str) -> tuple[int, list[_Member]]:
    """The position after the opening brace, and the members in their order."""
    at = opened = _expect("an object", _OPEN_OBJECT, text, 0)
    members: list[_Member] = []
    while not _closes(_CLOSE_OBJECT, text, at):
        if len(members) == _MOST_MEMBERS:
            raise TooMany("more than 10,000 members")
        at = _expect("a comma or the end", _COMMA if members else _FIRST, text, at)
        if not text.startswith('"', at):
            raise json.JSONDecodeError("Expecting a member name", text, at)
        name, name_end = _hop(text, at)
        value_start = _expect("a colon", _COLON, text, name_end)
        _, end = _hop(text, value_start)
        members.append(_Member(str(name), at, value_start, end))
        at = end
    return opened, members


def _closes(bracket: re.Pattern[str], text: str, at: int) -> bool:
    match = bracket.match(text, at)
    if match is not None and match.end() < len(text):
        raise json.JSONDecodeError("Extra data", text, match.end())
    return match is not None


def _expect(what: str, pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    if match is None:
        raise json.JSONDecodeError("Expecting " + what, text, at)
    return match.end()


def _hop(text: str, at: int) -> tuple[object, int]:
    try:
        return _HOP.raw_decode(text, at)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
