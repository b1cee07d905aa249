"""Readings that share no code with the program, to judge it by: event streams and strict JSON."""

import json
from dataclasses import dataclass, field
from math import isinf
from typing import Any, Never


@dataclass(slots=True)
class _Block:
    raw: bytes = b""
    data: list[bytes] = field(default_factory=list)
    name: bytes = b""

    def end(self, *, cut: bool) -> tuple[bytes, bytes | None, bytes, bool]:
        return self.raw, b"\n".join(self.data) if self.data else None, self.name, cut


def read_sse(stream: bytes) -> list[tuple[bytes, bytes | None, bytes, bool]]:
    """Each block's bytes, data, name, and whether its blank line is missing; by WHATWG's steps."""
    found = []
    block = _Block()
    for position, (line, end) in enumerate(_lines(stream)):
        block.raw += line + end
        if not line and end:
            found.append(block.end(cut=False))
            block = _Block()
        else:
            _take_line(block, line[3:] if position == 0 and line[:3] == b"\xef\xbb\xbf" else line)
    return [*found, block.end(cut=True)] if block.raw else found


def _take_line(block: _Block, line: bytes) -> None:
    colon = line.find(b":")
    name = line if colon < 0 else line[:colon]
    value = b"" if colon < 0 else line[colon + 1 :]
    if value[:1] == b" ":
        value = value[1:]
    if name == b"data":
        block.data.append(value)
    if name == b"event":
        block.name = value


def _lines(stream: bytes) -> list[tuple[bytes, bytes]]:
    """Lines and their ends; the last one's end may be missing."""
    lines = []
    begin = at = 0
    while at < len(stream):
        if stream[at] not in b"\r\n":
            at += 1
            continue
        end = at + (2 if stream[at : at + 2] == b"\r\n" else 1)
        lines.append((stream[begin:at], stream[at:end]))
        begin = at = end
    return [*lines, (stream[begin:], b"")] if begin < len(stream) else lines


def read_strict(text: str) -> Any:
    """A strict document without limits. Raises `ValueError`."""
    value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)
    text.encode()
    json.dumps(value, ensure_ascii=False).encode()
    return value


def read_plain(body: bytes) -> Any:
    """Any JSON in UTF-8, numbers as their text; the last of equal names. Raises `ValueError`."""
    try:
        return json.loads(
            body.decode(), parse_constant=_refuse, parse_int=_spelled, parse_float=_spelled
        )
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(members)) != len(members):
        raise ValueError("an object repeats a key")
    return dict(members)


def _refuse(name: str) -> Never:
    raise ValueError(name)


def _finite(number: str) -> float:
    if isinf(float(number)):
        raise ValueError(number)
    return float(number)


def _spelled(number: str) -> tuple[str]:
    return (number,)
