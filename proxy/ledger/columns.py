"""Plain tables for a terminal."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

_GAP: Final = "  "
_LEAST: Final = 6


def table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    yielding: Collection[str] = (),
    width: int = 120,
) -> Iterator[str]:
    """Lines of a table, at most `width` wide as long as its `yielding` columns can give room.

    They are cut from the widest on; an ellipsis stands for the middle of what was cut.
    """
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    may_yield = [index for index, heading in enumerate(headings) if heading in yielding]
    while may_yield and sum(widths) + len(_GAP) * (len(widths) - 1) > width:
        widest = max(may_yield, key=widths.__getitem__)
        if widths[widest] <= _LEAST:
            break
        widths[widest] -= 1
    for row in (headings, *rows):
        cells = (_cut(cell, room).ljust(room) for cell, room in zip(row, widths, strict=True))
        yield _GAP.join(cells).rstrip()


def _cut(text: str, room: int) -> str:
    """Names differ at both ends: the middle goes."""
    if len(text) <= room:
        return text
    tail = (room - 1) // 2
    return f"{text[: room - 1 - tail]}…{text[len(text) - tail :]}"
