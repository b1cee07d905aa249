"""Patterns of JSON Schemas, which are ECMA-262, on RE2: linear time for any pattern and text.

Spellings that RE2 lacks but can express are translated; what it cannot express (look-around,
back-references) is None: unchecked, never refused.
"""

import re
from dataclasses import dataclass
from typing import Any

import re2

_MAX_MEMORY_BYTES = 2 << 20
_HEX = "[0-9a-fA-F]"
_PIECE = re.compile(
    rf"\\u(?P<high>[dD][89abAB]{_HEX}{{2}})\\u(?P<low>[dD][c-fC-F]{_HEX}{{2}})"
    rf"|\\u(?:(?P<unit>{_HEX}{{4}})|\{{0*(?P<point>{_HEX}{{1,6}})\}})"
    r"|\\c(?P<control>[A-Za-z])"
    r"|\\(?P<sign>[pP])\{(?:Script|sc|General_Category|gc)=(?P<property>\w+)\}"
    r"|\[\^\]|\[\]|\\.|.",
    re.DOTALL,
)
_SPACES = (
    r"\t-\r\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}"
)
_NO_SPACES = (
    r"\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}"
    r"\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}"
)
_OUTSIDE_CLASS = {
    "[^]": r"[\x{0}-\x{10ffff}]",
    "[]": r"[^\x{0}-\x{10ffff}]",
    ".": r"[^\n\r\x{2028}\x{2029}]",
    "$": r"\z",
    r"\Z": r"\z",  # Python's spelling, as pydantic writes it
    r"\s": f"[{_SPACES}]",
    r"\S": f"[{_NO_SPACES}]",
}
_INSIDE_CLASS = {"[": r"\[", "[]": r"\[]", "[^]": r"\[^]", r"\b": r"\x{8}"} | {
    r"\s": _SPACES,
    r"\S": _NO_SPACES,
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern. RE2 reads bytes; it would spend far more on places within a `str`.

    As a set of one it says in a third of the time that it is found. Where it says that it is not,
    it may have run out of memory: then the pattern itself decides.
    """

    _compiled: Any
    _set: Any

    def search(self, text: str) -> bool:
        encoded = text.encode()
        return bool(self._set.Match(encoded)) or self._compiled.search(encoded) is not None


def compile_pattern(pattern: str) -> Pattern | None:
    """Compile an ECMA-262 pattern, or None where RE2 cannot express it."""
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _MAX_MEMORY_BYTES
    translated = translate(pattern)
    try:
        compiled = re2.compile(translated, options)
        alone = re2.Set.SearchSet(options)
        alone.Add(translated)
        alone.Compile()
    except (re2.error, UnicodeEncodeError):
        return None
    return Pattern(compiled, alone)


def translate(pattern: str) -> str:
    """Rewrite ECMA-262 spellings in RE2's; what RE2 lacks is left as it is."""
    translated = []
    in_class = False
    for piece in _PIECE.finditer(pattern):
        text = piece[0]
        code_point = _code_point(piece)
        if code_point is not None:
            text = rf"\x{{{code_point:x}}}"
        elif piece["property"]:
            text = rf"\{piece['sign']}{{{piece['property']}}}"
        else:
            text = (_INSIDE_CLASS if in_class else _OUTSIDE_CLASS).get(text, text)
        translated.append(text)
        in_class = piece[0] == "[" or (in_class and (piece[0] == r"\]" or piece[0][-1] != "]"))
    return "".join(translated)


def _code_point(piece: re.Match[str]) -> int | None:
    if piece["high"]:
        high, low = int(piece["high"], 16), int(piece["low"], 16)
        return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
    if piece["control"]:
        return ord(piece["control"]) % 32
    digits = piece["unit"] or piece["point"]
    return int(digits, 16) if digits else None
