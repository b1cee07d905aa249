"""How far a measurement has come, on a terminal or in a log."""

from typing import Final, TextIO

_WIDTH: Final = 30
_LOG_LINES: Final = 10


class Progress:
    """A bar that is drawn over itself; where the output is no terminal, a line now and then."""

    def __init__(self, out: TextIO, total: int) -> None:
        self._out = out
        self._total = total
        self._done = 0
        self._is_terminal = out.isatty()
        self._every = max(1, total // _LOG_LINES)
        self._shown = 0

    def step(self, label: str) -> None:
        """One piece of the whole is done; `label` names it."""
        self._done += 1
        count = f"{self._done}/{self._total}"
        if self._is_terminal:
            filled = _WIDTH * self._done // self._total
            bar = "#" * filled + "." * (_WIDTH - filled)
            line = f"[{bar}] {count} {label}"
            self._out.write(f"\r{line.ljust(self._shown)}")
            self._shown = len(line)
            self._out.flush()
        elif self._done % self._every == 0 or self._done == self._total:
            self._out.write(f"{count} {label}\n")
            self._out.flush()

    def finish(self) -> None:
        """Leave the bar's line, so that what follows begins on one of its own."""
        if self._is_terminal and self._shown:
            self._out.write("\n")
            self._out.flush()
            self._shown = 0
