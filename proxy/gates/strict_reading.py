"""Reads a finished answer as one strict JSON document, or says why it is none.

Good answers take the standard library's C reader; the slow reader is asked only where that one is
too lenient, and to name a fault.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf
from typing import Any, Never

from proxy.errors import Fault
from proxy.gates.json_prefix import Finding, Limits, scan
from proxy.wire.depth import is_deeper
from proxy.wire.reply import Choice

_BLANKS = " \t\n\r"
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Document:
    """A strict JSON document; integers are exact."""

    value: Any


def read_document(text: str, limits: Limits) -> Document | Finding:
    """Read a whole text. An incomplete one is `unfinished`, whatever cut it short."""
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
    if not text.isascii():
        try:
            size = len(text.encode())
        except UnicodeEncodeError:  # a lone surrogate
            return True
    else:
        size = len(text)
    if size > limits.max_bytes or re.search(_runaway(limits), text):
        return True
    return "\\u" in text and _ESCAPED_SURROGATE.search(text) is not None


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


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite
)
