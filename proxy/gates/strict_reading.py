"""Reads a finished answer as one strict JSON document, or says why it is none.

Good answers take msgspec's reader, which is as strict except for keys that repeat, and a few looks
at the whole text that cost next to nothing. What these cannot rule out, a slower reading decides:
the standard library's, and the scan that names the fault and its place.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf
from typing import Any, Final, Never

import msgspec

from proxy.errors import Fault
from proxy.gates.json_prefix import Finding, Limits, scan
from proxy.wire.depth import is_deeper
from proxy.wire.reply import Choice

_BLANKS = " \t\n\r"
_LIKE = bytes.maketrans(b"\t\n\r123456789", b"   000000000")
_ESCAPED_QUOTE = b"\\u0022"
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Document:
    """A strict JSON document; integers are exact."""

    value: Any


def read_document(text: str, limits: Limits) -> Document | Finding:
    """Read a whole text. An incomplete one is `unfinished`, whatever cut it short."""
    return _read_plain(text, limits) or _read_slowly(text, limits)


def _read_plain(text: str, limits: Limits) -> Document | None:
    """The document, where a quick look shows that it is strict; None says nothing."""
    try:
        raw = text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return None
    if len(raw) > limits.max_bytes or _may_run_on(raw, limits) or _ESCAPED_QUOTE in raw:
        return None
    try:
        value = _READER.decode(raw)
        written = _WRITER.encode(value)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
    # The reader drops all but the last of equal keys, and with them their quotes.
    if written.count(b'"') != raw.count(b'"'):
        return None
    may_be_deep = raw.count(b"{") + raw.count(b"[") > limits.max_depth
    return None if may_be_deep and is_deeper(value, limits.max_depth) else Document(value)


def _may_run_on(raw: bytes, limits: Limits) -> bool:
    """Whether blanks or digits run on for longer than allowed, be it inside a string."""
    alike = raw.translate(_LIKE)
    runs = ((b" ", limits.max_whitespace_run), (b"0", limits.max_integer_digits))
    return any(most < len(alike) and kind * (most + 1) in alike for kind, most in runs)


def _read_slowly(text: str, limits: Limits) -> Document | Finding:
    if _needs_scan(text, limits):
        finding = scan(text, limits)
        if finding is not None:
            return finding
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return scan(text, limits) or _unreadable()
    if is_deeper(value, limits.max_depth):
        return scan(text, limits) or _unreadable()
    return Document(value)


def read_answer(choice: Choice, limits: Limits) -> Document | Finding:
    """Read a choice's content, and class what is missing by how the generation ended.

    Runaways win over `truncated`: they are the cause, the token limit only ended them.
    """
    if not (choice.content or "").strip(_BLANKS):
        return _class_empty(choice, limits)
    reading = read_document(choice.content or "", limits)
    if choice.finish_reason != "length":
        return reading
    if isinstance(reading, Finding):
        if reading.fault is not Fault.UNFINISHED:
            return reading
        return Finding(Fault.TRUNCATED, reading.at, "the token limit cut it short")
    if (choice.content or "")[-1].isdigit():
        return Finding(Fault.TRUNCATED, len(choice.content or ""), "it may be half a number")
    return reading


def _class_empty(choice: Choice, limits: Limits) -> Finding:
    finding = scan(choice.content or "", limits)
    if finding is not None and finding.fault is not Fault.UNFINISHED:
        return finding
    reasoning = choice.reasoning.strip(_BLANKS)
    if reasoning and isinstance(read_document(reasoning, limits), Document):
        return Finding(Fault.IN_REASONING, 0, "it is empty and the document is in the reasoning")
    if choice.finish_reason == "length":
        return Finding(Fault.TRUNCATED, 0, "the token limit was reached before it began")
    return Finding(Fault.EMPTY_CONTENT, 0, "it is empty")


def _unreadable() -> Finding:
    return Finding(Fault.TOO_DEEP, 0, "it is nested more deeply than can be read")


def _needs_scan(text: str, limits: Limits) -> bool:
    """Whether the text holds something that the C reader lets pass, perhaps inside a string."""
    try:
        raw = text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return True
    if len(raw) > limits.max_bytes:
        return True
    if _may_run_on(raw, limits) and re.search(_runaway(limits), text):
        return True
    return b"\\u" in raw and _ESCAPED_SURROGATE.search(text) is not None


def _runaway(limits: Limits) -> str:
    blanks, digits = limits.max_whitespace_run + 1, limits.max_integer_digits + 1
    return rf"(?<![ \t\n\r])[ \t\n\r]{{{blanks}}}|(?<![0-9])[0-9]{{{digits}}}"


def _unique(members: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(members)
    if len(unique) != len(members):
        raise ValueError("an object repeats a key")
    return unique


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not a JSON value")


def _finite(number: str) -> float:
    value = float(number)
    if isinf(value):
        raise ValueError("a number is beyond a double")
    return value


_READER: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder()
_WRITER: Final = msgspec.json.Encoder()
_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite
)
