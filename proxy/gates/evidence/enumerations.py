"""How many things a text lists: "drei Gründe" may follow from three that are named."""

import re
from typing import Final

_ITEM: Final = re.compile(r"[ \t>]*(?:[-*\u2022]|\d{1,2}[.)])[ \t]+\S")
_LAST: Final = re.compile(r"(?:,? (?:und|and|sowie|oder|or|&) )[^,;.:!?\n]{2,60}")
_BEFORE: Final = re.compile(r"(?:[^,;.:!?\n()]{2,60}, )*[^,;.:!?\n()]{2,60}\Z")
_FEWEST: Final = 3
_MOST: Final = 12
_BACK: Final = 600


def list_lengths(text: str) -> set[int]:
    """The lengths of Markdown lists, from three to twelve items."""
    found = set()
    length = 0
    for line in (*text.split("\n"), ""):
        if _ITEM.match(line):
            length += 1
        elif line.strip() or not length:
            found.add(length)
            length = 0
    found.add(length)
    return {length for length in found if _FEWEST <= length <= _MOST}


def enumeration_lengths(sentence: str) -> set[int]:
    """The lengths of enumerations such as "A, B und C", from three to twelve items."""
    found = set()
    for last in _LAST.finditer(sentence):
        before = _BEFORE.search(sentence[max(0, last.start() - _BACK) : last.start()])
        if before is not None:
            found.add(before[0].count(", ") + 2)
    return {length for length in found if _FEWEST <= length <= _MOST}
