"""Reads JSON as it arrives and finds the first character that rules out a strict document.

Strict means RFC 8259 with the doubts removed: no duplicate keys, no NaN or Infinity, no number
beyond a double (`1e999`; integers are exact, however long the limits let them be), no lone
surrogates. The finding is the same however the text is split. Each token is passed over by one
regular expression, so time is linear and no depth of nesting costs stack.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from math import isinf
from typing import TypeAlias

from proxy.errors import Fault
from proxy.gates.json_tokens import (
    BLANKS,
    COLON,
    DIGITS,
    ESCAPE_BEGUN,
    FEW_BLANKS,
    FEW_DIGITS,
    NEXT_KEY,
    NOT_FINITE,
    NUMBER,
    NUMBER_BEGUN,
    PLAIN_ITEMS,
    PLAIN_MEMBER,
    STRING_BODY,
    WORDS,
)

_WORTH_A_HOP = 24


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on a document; sizes in UTF-8 bytes, runs in characters."""

    max_depth: int = 64
    max_bytes: int = 1_048_576
    max_whitespace_run: int = 64
    max_integer_digits: int = 100


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a text is no strict document; `at` counts characters from 0."""

    fault: Fault
    at: int
    reason: str


class _Impossible(Exception):
    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.reason)
        self.finding = finding


class PrefixReader:
    """The state of one text that is still arriving.

    A token that the end of a piece cuts in two is carried over to the next piece; of a string
    only an unfinished escape is, so long strings are not read twice.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._may_hop = (
            limits.max_whitespace_run >= FEW_BLANKS and limits.max_integer_digits >= FEW_DIGITS
        )
        self._finding: Finding | None = None
        self._next: _Step = PrefixReader._value  # takes the next token that is no string
        self._open: list[set[str] | None] = []  # an object's keys so far; None for an array
        self._carry = ""
        self._characters = 0
        self._room = limits.max_bytes
        self._blanks = 0
        self._start = 0  # where the text in hand begins within the whole
        self._in_string = False
        self._key: list[str] | None = None  # raw pieces, while the open string is a key
        self._last_key = ""

    def feed(self, piece: str) -> Finding | None:
        """Take the next piece. A finding is final: later pieces return it again."""
        if self._finding is not None:
            return self._finding
        if piece.isascii() and len(piece) <= self._room:
            allowed = piece
            self._room -= len(piece)
        else:
            allowed = self._within_size(piece)
        if self._in_string and not self._carry and '"' not in piece and _is_plain(allowed):
            self._characters += len(allowed)
            if self._key is not None:
                self._key.append(allowed)
        else:
            text = self._carry + allowed
            self._start = self._characters - len(self._carry)
            self._carry = ""
            self._characters += len(allowed)
            try:
                self._read(text)
            except _Impossible as impossible:
                self._finding = impossible.finding
                return self._finding
        if len(allowed) < len(piece):
            reason = f"it is larger than {self._limits.max_bytes} bytes"
            self._finding = Finding(Fault.TOO_LARGE, self._characters, reason)
        return self._finding

    def finish(self) -> Finding | None:
        """The text is over: None for a complete document, else why it is none."""
        if self._finding is None and not self._in_string and NUMBER.fullmatch(self._carry):
            self._start = self._characters - len(self._carry)
            try:
                self._number(self._carry + " ", 0)
            except _Impossible as impossible:
                self._finding = impossible.finding
            self._carry = ""
        if self._finding is not None or self._next is PrefixReader._nothing:
            return self._finding
        if not self._in_string and self._carry.lstrip("-")[:1] in ("N", "I"):
            begin = self._characters - len(self._carry.lstrip("-"))
            return self._junk(begin - self._start, "it holds a word that is not JSON").finding
        where = "inside a string" if self._in_string else "before it is complete"
        return Finding(Fault.UNFINISHED, self._characters, f"it ends {where}")

    def _within_size(self, piece: str) -> str:
        """What may still be read of a piece, as sizes are in bytes."""
        encoded = piece.encode("utf-8", "replace")
        within = encoded[: self._room]
        self._room -= len(within)
        return piece if within == encoded else piece[: len(within.decode("utf-8", "ignore"))]

    def _read(self, text: str) -> None:
        position, end = 0, len(text)
        while position < end:
            if self._in_string:
                position = self._string(text, position)
            elif text[position] in " \t\n\r":
                position = self._pass_blanks(text, position)
            else:
                self._blanks = 0
                hop = self._hop(text, position) if end - position >= _WORTH_A_HOP else None
                position = hop or self._next(self, text, position)

    def _pass_blanks(self, text: str, begin: int) -> int:
        end = BLANKS.match(text, begin).end()  # type: ignore[union-attr]
        room = self._limits.max_whitespace_run - self._blanks
        if end - begin > room:
            reason = (
                f"whitespace runs on for more than {self._limits.max_whitespace_run} characters"
            )
            raise self._impossible(Fault.WHITESPACE_RUNAWAY, begin + room, reason)
        self._blanks += end - begin
        return end

    def _hop(self, text: str, position: int) -> int | None:
        """Pass over plain items of an array, or one plain member of an object."""
        if not self._open or not self._may_hop:
            return None
        keys = self._open[-1]
        if keys is None:
            if self._next not in (PrefixReader._value, PrefixReader._value_or_end):
                return None
            hop = PLAIN_ITEMS.match(text, position)
            if hop is not None:
                self._next = PrefixReader._value
            return hop and hop.end()
        if self._next not in (PrefixReader._key_begin, PrefixReader._key_or_end):
            return None
        hop = PLAIN_MEMBER.match(text, position)
        if hop is None or hop[1][1:-1] in keys:
            return None
        self._last_key = hop[1][1:-1]
        keys.add(self._last_key)
        self._next = PrefixReader._key_begin if hop[2] else PrefixReader._value
        return hop.end()

    def _value(self, text: str, position: int) -> int:
        character = text[position]
        if character == '"':
            self._in_string = True
            return position + 1
        if character in "-0123456789":
            return self._number(text, position)
        if character == "{":
            return self._open_container(set(), PrefixReader._key_or_end, position)
        if character == "[":
            return self._open_container(None, PrefixReader._value_or_end, position)
        if character in WORDS:
            return self._word(text, position, position)
        reason = "a value is missing" if self._open else "something precedes the document"
        raise self._junk(position, reason)

    def _value_or_end(self, text: str, position: int) -> int:
        if text[position] == "]":
            return self._close_container(text, position)
        return self._value(text, position)

    def _key_begin(self, text: str, position: int) -> int:
        if text[position] != '"':
            raise self._impossible(Fault.NOT_JSON, position, "a key in double quotes is missing")
        self._in_string = True
        self._key = []
        return position + 1

    def _key_or_end(self, text: str, position: int) -> int:
        if text[position] == "}":
            return self._close_container(text, position)
        if text[position] == "{" and len(self._open) == 1:
            raise self._impossible(Fault.LEADING_JUNK, position, "the document begins twice")
        return self._key_begin(text, position)

    def _colon(self, text: str, position: int) -> int:
        if text[position] == ":":
            self._next = PrefixReader._value
            return position + 1
        keys = self._open[-1]
        is_first_key = len(self._open) == 1 and keys is not None and len(keys) == 1
        if is_first_key and (self._last_key.endswith("{") or text[position] in '"{'):
            raise self._impossible(Fault.LEADING_JUNK, position, "the document begins twice")
        raise self._impossible(Fault.NOT_JSON, position, "a colon is missing after a key")

    def _comma_or_end(self, text: str, position: int) -> int:
        in_array = self._open[-1] is None
        if text[position] == ",":
            self._next = PrefixReader._value if in_array else PrefixReader._key_begin
            return position + 1
        closing = "]" if in_array else "}"
        if text[position] == closing:
            return self._close_container(text, position)
        reason = f"a comma or '{closing}' is missing"
        raise self._impossible(Fault.NOT_JSON, position, reason)

    def _nothing(self, _: str, position: int) -> int:
        raise self._impossible(Fault.TRAILING_JUNK, position, "something follows the document")

    def _open_container(self, keys: set[str] | None, then: "_Step", position: int) -> int:
        if len(self._open) == self._limits.max_depth:
            reason = f"it is nested deeper than {self._limits.max_depth} levels"
            raise self._impossible(Fault.TOO_DEEP, position, reason)
        self._open.append(keys)
        self._next = then
        return position + 1

    def _close_container(self, text: str, position: int) -> int:
        self._open.pop()
        return self._end_value(text, position + 1)

    def _end_value(self, text: str, position: int) -> int:
        if not self._open:
            self._next = PrefixReader._nothing
            return position
        self._next = PrefixReader._comma_or_end
        in_object = self._open[-1] is not None
        hop = NEXT_KEY.match(text, position) if in_object and self._may_hop else None
        if hop is None:
            return position
        self._in_string = True
        self._key = []
        return hop.end()

    def _string(self, text: str, position: int) -> int:
        quote = text.find('"', position)
        end = quote if quote >= 0 else len(text)
        if not _is_plain(text[position:end]):
            end = STRING_BODY.match(text, position).end()  # type: ignore[union-attr]
        if self._key is not None:
            self._key.append(text[position:end])
        if end == len(text):
            return end
        match text[end]:
            case '"':
                return self._end_string(text, end)
            case "\\":
                stop = ESCAPE_BEGUN.match(text, end).end()  # type: ignore[union-attr]
                if stop == len(text):
                    return self._wait(text, end)
                reason = "a string holds a bad escape or half a surrogate pair"
                raise self._impossible(Fault.BAD_STRING, stop, reason)
        reason = "a string holds a raw control character or a lone surrogate"
        raise self._impossible(Fault.BAD_STRING, end, reason)

    def _end_string(self, text: str, position: int) -> int:
        self._in_string = False
        if self._key is None:
            return self._end_value(text, position + 1)
        self._last_key = _decoded("".join(self._key))
        self._key = None
        keys = self._open[-1]
        if keys is None or self._last_key in keys:
            raise self._impossible(Fault.DUPLICATE_KEY, position, "an object repeats a key")
        keys.add(self._last_key)
        hop = COLON.match(text, position + 1) if self._may_hop else None
        if hop is None:
            self._next = PrefixReader._colon
            return position + 1
        self._next = PrefixReader._value
        self._in_string = hop[1] is not None
        return hop.end()

    def _word(self, text: str, position: int, token_begin: int) -> int:
        word = WORDS[text[position]]
        found = text[position : position + len(word)]
        if found == word:
            if word in NOT_FINITE:
                reason = "it holds NaN or Infinity"
                raise self._impossible(Fault.NOT_FINITE, position, reason)
            return self._end_value(text, position + len(word))
        if word.startswith(found):
            return self._wait(text, token_begin)
        raise self._junk(position + _shared(word, found), "it holds a word that is not JSON")

    def _number(self, text: str, position: int) -> int:
        end = NUMBER_BEGUN.match(text, position).end()  # type: ignore[union-attr]
        number = text[position:end]
        if len(number) > self._limits.max_integer_digits:
            self._check_digits(number, position)
        if end == len(text):
            return self._wait(text, position)
        if number == "-":
            if text[end] == "I":
                return self._word(text, end, position)
            raise self._junk(end, "a minus sign is not followed by a number")
        if not NUMBER.fullmatch(number) or text[end].isdecimal():
            raise self._impossible(Fault.NOT_JSON, end, "a number is malformed")
        if not number.removeprefix("-").isdecimal() and isinf(float(number)):
            raise self._impossible(Fault.NOT_FINITE, end, "a number is beyond a double")
        return self._end_value(text, end)

    def _check_digits(self, number: str, position: int) -> None:
        most = self._limits.max_integer_digits
        for run in DIGITS.finditer(number):
            if run.end() - run.start() > most:
                at = position + run.start() + most
                reason = f"a number runs on for more than {most} digits"
                raise self._impossible(Fault.NUMBER_RUNAWAY, at, reason)

    def _wait(self, text: str, position: int) -> int:
        self._carry = text[position:]
        return len(text)

    def _junk(self, position: int, reason: str) -> _Impossible:
        fault = Fault.NOT_JSON if self._open else Fault.LEADING_JUNK
        return self._impossible(fault, position, reason)

    def _impossible(self, fault: Fault, position: int, reason: str) -> _Impossible:
        return _Impossible(Finding(fault, self._start + position, reason))


_Step: TypeAlias = Callable[[PrefixReader, str, int], int]


def scan(text: str, limits: Limits) -> Finding | None:
    """Read a whole text at once."""
    reader = PrefixReader(limits)
    return reader.feed(text) or reader.finish()


def _is_plain(text: str) -> bool:
    """Whether all of a text may stand within a string; false also for a few that may."""
    return text.isprintable() and "\\" not in text


def _decoded(raw: str) -> str:
    if "\\" not in raw:
        return raw
    return str(json.loads(f'"{raw}"'))


def _shared(word: str, found: str) -> int:
    """How many characters of `found` could still become JSON; none of NaN or Infinity."""
    if word in NOT_FINITE:
        return 0
    return next(i for i, pair in enumerate(zip(word, found, strict=False)) if pair[0] != pair[1])
