"""The comparison as a picture: ratios to the bare relay, with whiskers, on log scales."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from canvas import DOT, Canvas
from tables import NONE, ratio
from turns import (
    P50_AT_1,
    REPLIES_AT_16,
    RESIDENT,
    STREAMS_AT_16,
    Quantity,
    Turn,
    nothing_but_errors,
    ratios,
)

WIDTH = 900
LABELS = 190
PANEL = 330
GAP = 28
ROW = 24
HEAD = 52
FOOT = 30
TOP = 46
BOTTOM = 20
VALUE = 62  # beside the plot, for the ratio in figures
BASELINE = 4.5  # from the middle of a row to the foot of its letters
TITLE = "Throughput, latency and memory as ratios to a bare relay"


@dataclass(frozen=True, slots=True)
class Panel:
    """One quantity; `better` says which way is good."""

    title: str
    quantity: Quantity
    better: str


PANELS = (
    Panel("Replies/s, 16 connections", REPLIES_AT_16, "right is better"),
    Panel("Streams/s, 16 connections", STREAMS_AT_16, "right is better"),
    Panel("p50, one connection", P50_AT_1, "left is better"),
    Panel("Resident memory", RESIDENT, "left is better"),
)


@dataclass(frozen=True, slots=True)
class Axis:
    """Powers of ten from `low` to `high` (exponents) on so many pixels from `left`."""

    low: int
    high: int
    left: float
    width: float

    def x(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.left + share * self.width

    def ticks(self) -> list[float]:
        return [10.0**exponent for exponent in range(self.low, self.high + 1)]

    @property
    def beside(self) -> float:
        return self.left + self.width + 10


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn, and where: `peers` are titles by name, in the order of the rows."""

    canvas: Canvas
    turns: Sequence[Turn]
    peers: dict[str, str]

    def names(self, top: float) -> None:
        for index, title in enumerate(self.peers.values()):
            self.canvas.text_before(LABELS - 12, _foot(top, index), title, _ours(title))

    def panel(self, panel: Panel, left: float, top: float) -> None:
        found = {peer: ratios(self.turns, peer, panel.quantity) for peer in self.peers}
        axis = _axis([value for some in found.values() for value in some], left)
        self.canvas.text(left, top + 22, panel.title, "panel")
        self.canvas.text(left, top + 38, f"log scale, {panel.better}", "quiet")
        self._grid(axis, top)
        for index, (peer, title) in enumerate(self.peers.items()):
            if found[peer]:
                self._entry(axis, found[peer], _foot(top, index), _ours(title))
            else:
                failed = nothing_but_errors(self.turns, peer, panel.quantity.measure)
                instead = "errors" if failed else NONE
                self.canvas.text(axis.beside, _foot(top, index), instead, "quiet")

    def _grid(self, axis: Axis, top: float) -> None:
        bottom = top + HEAD + ROW * len(self.peers)
        for tick in axis.ticks():
            x = axis.x(tick)
            self.canvas.upright(x, (top + HEAD - 4, bottom), "one" if tick == 1 else "grid")
            self.canvas.text_around(x, bottom + 16, f"{tick:g}", "quiet number")

    def _entry(self, axis: Axis, found: Sequence[float], foot: float, ours: str) -> None:
        least, most, y = axis.x(min(found)), axis.x(max(found)), foot - BASELINE
        if most - least > 2 * DOT:
            self.canvas.level(y, (least, most), f"whisker {ours}".strip())
        self.canvas.dot(axis.x(median(found)), y, f"dot {ours}".strip())
        label = f"{ratio(median(found))}×"  # noqa: RUF001 -- a multiplication sign
        self.canvas.text(axis.beside, foot, label, f"number {ours}".strip())


def drawn(turns: Sequence[Turn], machine: Sequence[str]) -> str:
    """The whole picture as SVG. `machine` begins with the date and the machine's own line."""
    peers = {turn.peer: turn.title for turn in turns}
    block = HEAD + ROW * len(peers) + FOOT
    height = TOP + block * math.ceil(len(PANELS) / 2) + BOTTOM
    canvas = Canvas(WIDTH, height, TITLE)
    picture = Picture(canvas, turns, peers)
    canvas.text(0, 18, TITLE, "title")
    canvas.text(0, 36, "Median of the rounds; whiskers from the least to the greatest.", "quiet")
    for index, panel in enumerate(PANELS):
        row, column = divmod(index, 2)
        top = TOP + row * block
        if column == 0:
            picture.names(top)
        picture.panel(panel, LABELS + column * (PANEL + GAP), top)
    canvas.text(0, height - 8, "; ".join(machine[:2]), "quiet")
    return canvas.svg()


def _axis(found: Sequence[float], left: float) -> Axis:
    low = min([0, *(math.floor(math.log10(value)) for value in found)])
    high = max([1, *(math.ceil(math.log10(value)) for value in found)])
    return Axis(low, high, left, PANEL - VALUE)


def _foot(top: float, index: int) -> float:
    """Of the letters in a row."""
    return top + HEAD + ROW * (index + 0.5) + BASELINE


def _ours(title: str) -> str:
    return "ours" if title.startswith("Sluicegate") else ""
