"""Finds tool calls that a server left in a text: call mark-up of the usual chat templates.

Text may talk of such mark-up, so a mark alone is no call. A call is a mark, then the name of a tool
with nothing but mark-up between them, outside code: at the beginning of a line, or anywhere if the
text ends in mark-up. A name that no tool has counts only where such a text begins with the call.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from proxy.gates.code_mask import CODE, CodeMask

_MARKS = (
    "<tool_call>",
    "<tool_calls>",
    "<TOOLCALL>",
    "<function=",
    "<function_call>",
    "<function_calls>",
    "<start_function_call>",
    "<invoke name=",
    "<minimax:tool_call>",
    "[TOOL_CALLS]",
    "[TOOL_CALL]",
)
_BARS = "|\uff5c"  # DeepSeek writes the fullwidth one
_SPECIAL_MARK = rf"<[{_BARS}][^\s<>{_BARS}]{{1,40}}(?:[{_BARS}][^\s<>{_BARS}]{{0,40}}){{0,2}}>"
_MARK = re.compile("|".join([*(re.escape(mark) for mark in _MARKS), _SPECIAL_MARK]))
_SPECIAL_MARK_BEGUN = re.compile(rf"<[{_BARS}][^\s<>]{{0,80}}")
_LONGEST_BEGINNING = 96
_GLUE_WORDS = (
    r"(?:name|functions?|function_calls?|start_function_call|invoke|type|call|calls|tool"
    r"|tool_?calls?(?:_section)?(?:_begin)?|TOOL_CALLS?|commentary|to|DSML|begin|section|sep|minimax)(?![\w-])"
)
_SHAPE = re.compile(
    rf"(?P<glue>(?:{_GLUE_WORDS}|[\s\[\]{{}}\"'=<>{_BARS}\u2581:,./()]){{0,120}}+)"
    r"(?P<name>[\w.-]{1,128}+)?+(?P<gap>:|\s{0,40}+)(?P<follow>.)?",
    re.DOTALL,
)
_AT_ONCE = frozenset("\"'>({[=" + _BARS)  # what may follow a name at once
_AFTER_BLANKS = frozenset("<{[" + CODE)
_KEYS_BEFORE_NAME = frozenset({"arguments", "parameters", "id"})
_MOST_INDENTED = 3  # more is an indented block of code
_ENDS_OF_MARKUP = frozenset(">}]")


@dataclass(frozen=True, slots=True)
class Sighting:
    """A call in a text; `at` counts characters from 0."""

    at: int
    name: str


class CallScanner:
    """Reads one text as it arrives. What it finds does not depend on how the pieces are cut."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._mask = CodeMask()
        self._tail = ""  # from a mark on that is not decided yet
        self._start = 0  # where the tail begins within the whole
        self._line = ""  # the beginning of the line before the tail
        self._is_blank = True  # nothing but white space before the tail
        self._last = ""  # the last character that is not white space
        self._certain: Sighting | None = None
        self._possible: Sighting | None = None

    @property
    def suspects(self) -> bool:
        """Whether the end of the text may be, or belong to, a call."""
        return bool(self._tail or self._possible or self._certain)

    @property
    def ends_in_markup(self) -> bool:
        """Whether the text so far does not end in prose."""
        return self._last in _ENDS_OF_MARKUP

    def feed(self, piece: str) -> Sighting | None:
        """Take the next piece; what is returned is a call whatever follows."""
        if self._certain is None:
            self._take(self._mask.feed(piece), is_end=False)
        return self._certain

    def finish(self, *, anywhere: bool = False) -> Sighting | None:
        """The text is over. `anywhere`: a call in mid-line counts though prose follows it."""
        if self._certain is None:
            self._take(self._mask.finish(), is_end=True)
        return self._certain or (self._possible if anywhere or self.ends_in_markup else None)

    def _take(self, masked: str, *, is_end: bool) -> None:
        self._last = (masked.rstrip() or self._last)[-1:]
        self._tail += masked
        position = 0
        while mark := _MARK.search(self._tail, position):
            shape = _SHAPE.match(self._tail, mark.end())
            if shape is None or (not shape["follow"] and not is_end):
                self._forget(mark.start())
                return
            self._weigh(mark, shape)
            position = mark.end()
        self._forget(max(position, _beginning_of_mark(self._tail)))

    def _weigh(self, mark: re.Match[str], shape: re.Match[str]) -> None:
        name = shape["name"]
        if self._certain or not name or not _goes_on(shape):
            return
        sighting = Sighting(self._start + mark.start(), name)
        is_known = name in self._names or name in _KEYS_BEFORE_NAME
        if is_known and self._begins_line(mark.start()):
            self._certain = sighting
        elif is_known or (_is_structured(mark, shape) and self._begins_text(mark.start())):
            self._possible = self._possible or sighting

    def _begins_line(self, at: int) -> bool:
        near = max(0, at - _MOST_INDENTED - 1)
        _, newline, indent = self._tail[near:at].rpartition("\n")
        if not newline and near == 0:
            indent = self._line + indent
        return not indent.strip() and len(indent) <= _MOST_INDENTED

    def _begins_text(self, at: int) -> bool:
        return self._is_blank and not self._tail[:at].strip()

    def _forget(self, end: int) -> None:
        """Drop the tail's beginning, of which nothing more can come."""
        dropped, self._tail = self._tail[:end], self._tail[end:]
        self._start += end
        self._is_blank = self._is_blank and not dropped.strip()
        _, newline, line = dropped.rpartition("\n")
        kept = line if newline else self._line + line
        self._line = kept[: _MOST_INDENTED + 1]


def _is_structured(mark: re.Match[str], shape: re.Match[str]) -> bool:
    return any(sign in mark[0] + shape["glue"] for sign in "{=[" + _BARS)


def _goes_on(shape: re.Match[str]) -> bool:
    """Whether mark-up follows the name; prose does not look like that."""
    gap, follow = shape["gap"], shape["follow"] or ""
    if gap == ":":
        return follow.isdigit()  # `functions.look:0`
    return follow in (_AFTER_BLANKS if gap else _AT_ONCE)


def _beginning_of_mark(text: str) -> int:
    """Where the text's end may be the beginning of a mark; the text's length if nowhere."""
    start = max(text.rfind("<"), text.rfind("["))
    rest = text[start:] if start >= 0 else ""
    if not rest or len(rest) > _LONGEST_BEGINNING:
        return len(text)
    begins = any(mark.startswith(rest) for mark in _MARKS) or _SPECIAL_MARK_BEGUN.fullmatch(rest)
    return start if begins else len(text)
