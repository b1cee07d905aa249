"""A text with blanks in the place of some of its parts; offsets stay."""

from collections.abc import Iterable
from typing import Protocol


class Part(Protocol):
    """A range of a text."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


def blanked(text: str, parts: Iterable[Part]) -> str:
    """Blanks for parts that come in order and do not overlap."""
    pieces: list[str] = []
    done = 0
    for part in parts:
        pieces += (text[done : part.start], " " * (part.end - part.start))
        done = part.end
    return "".join((*pieces, text[done:]))
