"""The file with everything an engine printed: as it came, and never larger than it may be."""

import os
import re
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from proxy.errors import Place, Problem, SettingsError

_MOST_BYTES: Final = 64 << 20
_UNFIT: Final = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_CHARACTERS: Final = 80


class LogFile:
    """Appends to one file; a full one is put aside as `NAME.1`, in the place of the one before."""

    def __init__(self, path: Path, most_bytes: int = _MOST_BYTES) -> None:
        """Raises `SettingsError` where it cannot be written."""
        self.path = path
        self._most_bytes = most_bytes
        self._file = _opened(path)
        self._size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def write(self, piece: bytes) -> None:
        """A disk that fills up costs the log, never the engine."""
        try:
            if self._size + len(piece) > self._most_bytes:
                self._file.close()
                self.path.replace(f"{self.path}.1")
                self._file = _opened(self.path)
                self._size = 0
            self._file.write(piece)
        except (OSError, SettingsError):
            return
        self._size += len(piece)


def log_path(folder: Path, recipe_name: str, now: datetime) -> Path:
    """A name that tells recipe and time, and holds nothing that a path could trip over."""
    name = _UNFIT.sub("-", recipe_name).strip("-.")[:_NAME_CHARACTERS] or "recipe"
    return folder / f"{name}-{now:%Y%m%d-%H%M%S}-{os.getpid()}.log"


def _opened(path: Path) -> IO[bytes]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("ab", buffering=0)
    except OSError as error:
        problem = Problem(Place(str(path)), f"cannot be written: {error.strerror}", "--log-folder")
        raise SettingsError([problem]) from error
