"""What an engine prints, handed to everybody who needs it: file, display, boot log, last lines."""

from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from proxy.launch.display import Display
from proxy.launch.log_file import LogFile
from proxy.launch.log_lines import LineSplitter
from proxy.recipes.boot.boot_log import BootLog, Phase

# A traceback of each process, and what they said before it.
_TAIL_LINES: Final = 600


class EngineLog:
    """One start's. Called with each piece that the engine prints.

    `now` counts seconds on any clock; phases are timed by when their first line came.
    """

    def __init__(self, file: LogFile, display: Display, now: Callable[[], float]) -> None:
        self.boot = BootLog()
        self._file = file
        self._display = display
        self._now = now
        self._splitter = LineSplitter()
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._began = self._phase_began = now()

    def __call__(self, piece: bytes) -> None:
        self._file.write(piece)
        for line in self._splitter.feed(piece):
            self._read(line)

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def tail(self) -> Sequence[str]:
        """The last lines of an engine that has ended, one without its end included."""
        for line in self._splitter.end():
            self._read(line)
        return tuple(self._tail)

    @property
    def seconds(self) -> float:
        """Since the start."""
        return self._now() - self._began

    def tick(self) -> None:
        """Show how the running phase is getting on."""
        self._display.phase_runs(self.boot.phase, self._phase_seconds(), self.boot.progress)

    def ready(self) -> None:
        """The engine is healthy, whatever it printed."""
        self._turn(self.boot.phase, self.boot.progress, lambda: self.boot.reach(Phase.READY))

    def _read(self, line: str) -> None:
        self._tail.append(line)
        self._display.engine_line(line)
        self._turn(self.boot.phase, self.boot.progress, lambda: self.boot.read(line))

    def _turn(self, phase: Phase, progress: str, step: Callable[[], None]) -> None:
        """Take a step; where it begins another phase, the one before is over."""
        step()
        if self.boot.phase is not phase:
            self._display.phase_ended(phase, self._phase_seconds(), progress)
            self._phase_began = self._now()

    def _phase_seconds(self) -> float:
        return self._now() - self._phase_began
