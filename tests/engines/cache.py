"""Where environments and models are kept between runs, each made once, whole or not at all."""

import fcntl
import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

VARIABLE: Final = "SLUICEGATE_E2E_CACHE"
DEFAULT: Final = Path(__file__).parents[2] / ".e2e"
_STAMP: Final = ".made.json"

Say = Callable[[str], None]
"""Told in one line what is being done and how long it took."""


def say_aloud(line: str) -> None:
    """Past any capture: set-up takes minutes, and nobody should have to guess."""
    print(line, file=sys.__stderr__, flush=True)


def digest(*parts: str | bytes) -> str:
    """Identifies what a thing is made from, so that a changed recipe makes it anew."""
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(part.encode() if isinstance(part, str) else part)
        hashed.update(b"\0")
    return hashed.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of made things. Two test runs may share it: a lock lets only one make a thing."""

    folder: Path
    say: Say = say_aloud

    @classmethod
    def of(cls, environ: Mapping[str, str], say: Say = say_aloud) -> "Cache":
        """The folder that the variable names, else `.e2e` in the repository."""
        return cls(Path(environ.get(VARIABLE) or DEFAULT).absolute(), say)

    def provide(self, name: str, recipe: str, make: Callable[[Path], None]) -> Path:
        """The folder `name`; `make` fills it when it is missing, half-made or of another recipe.

        It is made in its final place, since the scripts of a virtual environment name their own;
        what tells a whole one from a half-made one is the stamp, which is written last.
        """
        folder = self.folder / name
        with self._locked(name):
            if _stamped(folder) != recipe:
                self._make(folder, recipe, make)
        return folder

    def scratch(self, name: str) -> Path:
        """A folder for logs and for what an engine itself caches; nothing in it is precious."""
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _make(self, folder: Path, recipe: str, make: Callable[[Path], None]) -> None:
        self.say(f"{folder.name}: making it in {folder} (once)")
        began = time.monotonic()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        make(folder)
        seconds = round(time.monotonic() - began, 1)
        stamp = folder / f"{_STAMP}.new"
        stamp.write_text(json.dumps({"recipe": recipe, "seconds": seconds}) + "\n")
        stamp.rename(folder / _STAMP)
        self.say(f"{folder.name}: made in {seconds:.0f} s")

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        """Waits for whoever is making the same thing; a dead maker's lock frees itself.

        Processes that the maker started hold it too: a pip may outlive a run that was killed.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f".{name}.lock").open("w") as lock:
            os.set_inheritable(lock.fileno(), True)  # noqa: FBT003 - takes no keyword
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.say(f"{name}: waiting for another run that is making it")
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _stamped(folder: Path) -> str | None:
    """The recipe of a whole thing; None where there is none."""
    try:
        stamp = json.loads((folder / _STAMP).read_bytes())
    except (OSError, ValueError):
        return None
    return stamp.get("recipe") if isinstance(stamp, dict) else None
