"""Where panels stand: rows of a grid that is 24 columns wide, one question to a row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grafana.generator.panels import Json, identity

COLUMNS: Final = 24
TILE_WIDTH: Final = 6
TILE_HEIGHT: Final = 3
PANEL_HEIGHT: Final = 9


@dataclass(frozen=True, slots=True)
class Block:
    """Panels that share a width and a height; they fill lines from left to right."""

    panels: Sequence[Json]
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Row:
    """One question, and the blocks side by side that answer it. Without a question: no heading."""

    question: str
    blocks: Sequence[Block]
    collapsed: bool = False


def tiles(*panels: Json) -> Block:
    """Four tiles on a line: on a laptop the titles of eight could not be told apart."""
    return Block(panels, TILE_WIDTH, TILE_HEIGHT)


def side_by_side(*panels: Json) -> Block:
    """Panels on one line, equally wide."""
    return Block(panels, COLUMNS // len(panels), PANEL_HEIGHT)


def placed(rows: Sequence[Row]) -> list[Json]:
    """All panels with their places; Grafana keeps those of a collapsed row inside it."""
    everything: list[Json] = []
    top = 0
    for row in rows:
        heading = _heading(row, top)
        top += len(heading)
        inside, height = _placed_blocks(row.blocks, top)
        if row.collapsed:
            heading[0]["panels"] = inside
            everything += heading
            continue
        everything += heading + inside
        top += height
    return everything


def _heading(row: Row, top: int) -> list[Json]:
    if not row.question:
        return []
    place = {"x": 0, "y": top, "w": COLUMNS, "h": 1}
    return [
        {
            "id": identity(f"row: {row.question}"),
            "type": "row",
            "title": row.question,
            "collapsed": row.collapsed,
            "gridPos": place,
            "panels": [],
        }
    ]


def _placed_blocks(blocks: Sequence[Block], top: int) -> tuple[list[Json], int]:
    """Blocks side by side; a block's panels fill what is left of the width, line by line."""
    found: list[Json] = []
    left, height = 0, 0
    for block in blocks:
        a_line = (COLUMNS - left) // block.width if block is blocks[-1] else 1
        for number, panel in enumerate(block.panels):
            line, column = divmod(number, a_line)
            place = {"x": left + column * block.width, "y": top + line * block.height}
            found.append(panel | {"gridPos": place | {"w": block.width, "h": block.height}})
            height = max(height, (line + 1) * block.height)
        left += block.width
    return found, height
