"""Finds blocks in tags, as people write them into a prompt that may hold code and markup too."""

import re
from collections.abc import Iterator
from typing import Final

Span = tuple[int, int, int, int]

_FENCE: Final = re.compile(r"^[ \t>]*(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_LINE: Final = 200
_HTML_OWN: Final = re.compile(r"\bsrc(?:set)?\s*=", re.IGNORECASE)


class NeverClosed(ValueError):
    """A block that begins at the character `at` and has no end."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


def tagged_spans(text: str, ends: re.Pattern[str]) -> Iterator[Span]:
    """Where each block begins, its inside begins and ends, and where it ends.

    `ends` finds opening and closing tags; its first group is the slash of a closing one, its second
    one the attributes. The first closing tag ends a block. No block begins in fenced code, and none
    is what is not closed and is a sentence's mention of the tag, or HTML's own `<source src=...>`.
    Raises `NeverClosed`.
    """
    fences = _Fences(text)
    opening: re.Match[str] | None = None
    free = 0  # what came before belongs to blocks or to code
    for tag in ends.finditer(text):
        if tag.start() < free:
            continue
        if tag[1]:
            if opening is not None:
                yield opening.start(), opening.end(), tag.start(), tag.end()
                opening, free = None, tag.end()
        elif opening is None:
            code = fences.end_around(free, tag.start())
            opening, free = (tag, free) if code is None else (None, code)
        elif not _was_meant(text, opening):
            opening = tag
    if opening is not None and _was_meant(text, opening):
        raise NeverClosed(opening.start())


class _Fences:
    """Finds the fenced code around a place. A fence that is never closed is none."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._never_closed: set[str] = set()

    def end_around(self, begin: int, place: int) -> int | None:
        """Where the code ends that begins after `begin` and holds `place`; None: there is none."""
        mark = ""
        for line in _FENCE.finditer(self._text, begin, place):
            if not mark:
                mark = line[1]
            elif line[1].startswith(mark) and not line[2].strip():
                mark = ""
        if not mark or mark in self._never_closed:
            return None
        closing = re.compile(rf"^[ \t>]*{mark}[`~]*[ \t]*$", re.MULTILINE)
        found = closing.search(self._text, place)
        if found is None:
            self._never_closed.add(mark)
            return None
        return found.end()


def _was_meant(text: str, opening: re.Match[str]) -> bool:
    if _HTML_OWN.search(opening[2] or ""):
        return False
    before = text[max(0, opening.start() - _LINE) : opening.start()].rpartition("\n")[2]
    follows = text[opening.end() : opening.end() + 1]
    return not before.strip() or follows.isalnum() or follows == "\n"
