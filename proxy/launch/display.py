"""What `recipe up` shows: finished phases of the boot as lines, on a terminal also the running one.

Everything goes to standard error, since standard output is the request log's.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import Final, Protocol

from proxy.recipes.boot.boot_line import plain
from proxy.recipes.boot.boot_log import Phase
from proxy.recipes.show.printable import printable

_LABEL_COLUMNS: Final = 12
_LIVE_COLUMNS: Final = 78
_CLEAR_LINE: Final = "\r\x1b[K"


class Colour(StrEnum):
    """ANSI codes; the terminal's own palette, so that they fit light and dark."""

    LABEL = "2"
    GOOD = "32"
    BAD = "31"
    NOTE = "33"


class Out(Protocol):
    """Where it is shown: a stream of text."""

    @property
    def encoding(self) -> str: ...
    def write(self, text: str, /) -> int: ...
    def flush(self) -> None: ...
    def isatty(self) -> bool: ...


class Display:
    """Writes lines. Texts of recipes and engines are made harmless first."""

    def __init__(self, out: Out, environ: Mapping[str, str], *, verbose: bool = False) -> None:
        terminal = out.isatty() and environ.get("TERM", "") != "dumb"
        self._out = out
        self._live = terminal and not verbose
        self._coloured = terminal and not environ.get("NO_COLOR")
        self._verbose = verbose
        self._is_open = False

    def title(self, text: str) -> None:
        self._line(printable(text))

    def note(self, text: str) -> None:
        self._labelled("note", text, Colour.NOTE)

    def row(self, label: str, text: str) -> None:
        self._labelled(label, text)

    def rows(self, rows: Iterable[tuple[str, str]]) -> None:
        for label, text in rows:
            self._labelled(label, text)

    def good(self, text: str) -> None:
        self._line(self._paint(printable(text), Colour.GOOD))

    def bad(self, text: str) -> None:
        """Several lines, if the text has them."""
        for line in text.splitlines():
            self._line(self._paint(printable(line), Colour.BAD))

    def engine_line(self, line: str) -> None:
        """What the engine printed; shown where that was asked for."""
        if self._verbose:
            self._line(f"  | {plain(line)}")

    def phase_ended(self, phase: Phase, seconds: float, progress: str) -> None:
        """A finished phase, and how long it took."""
        self._labelled(phase, f"{seconds:6.1f} s  {progress}".rstrip())

    def phase_runs(self, phase: Phase, seconds: float, progress: str) -> None:
        """The running phase, over the line that told of it before."""
        if self._live:
            text = f"  {phase.ljust(_LABEL_COLUMNS)}{seconds:6.1f} s  {progress}".rstrip()
            self._write(f"{_CLEAR_LINE}{printable(text)[: _LIVE_COLUMNS - 2]} …")
            self._is_open = True

    def _labelled(self, label: str, text: str, colour: Colour | None = None) -> None:
        shown = self._paint(printable(label).ljust(_LABEL_COLUMNS), colour or Colour.LABEL)
        self._line(f"  {shown}{printable(text)}")

    def _line(self, text: str) -> None:
        cleared = _CLEAR_LINE if self._is_open else ""
        self._is_open = False
        self._write(f"{cleared}{text}\n")

    def _paint(self, text: str, colour: Colour) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._coloured else text

    def _write(self, text: str) -> None:
        """A screen that has gone, such as the other end of a pipe, costs the engine nothing."""
        encoding = self._out.encoding or "utf-8"
        with suppress(OSError):
            self._out.write(text.encode(encoding, "replace").decode(encoding))
            self._out.flush()
