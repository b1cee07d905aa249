"""Plain text for a terminal, a pipe or a file; colour only where a person looks."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TextIO

_LABEL_COLUMNS: Final = 10
_SHORT_CHARACTERS: Final = 400


class Colour(StrEnum):
    """ANSI codes; the terminal's own palette, so that they fit light and dark."""

    TITLE = "1"
    LABEL = "2"
    GOOD = "32"
    BAD = "31"
    NOTE = "33"


class Screen:
    """Writes lines. Text of a model is made harmless first: it may hold control characters."""

    def __init__(self, out: TextIO, *, coloured: bool) -> None:
        self._out = out
        self._coloured = coloured

    def title(self, text: str) -> None:
        self._write(f"\n{self._paint(printable(text), Colour.TITLE)}\n")

    def line(self, label: str, text: str, colour: Colour | None = None) -> None:
        """A labelled line; what is printed later under an empty label stands below `text`."""
        self.begin(label)
        self._write(f"{self._paint(printable(text), colour)}\n")

    def begin(self, label: str) -> None:
        """Open a line that `flow` continues and `end` closes."""
        self._write(f"  {self._paint(label.ljust(_LABEL_COLUMNS), Colour.LABEL)}")

    def flow(self, text: str) -> None:
        self._write(printable(text))

    def end(self) -> None:
        self._write("\n")

    def plain(self, text: str) -> None:
        self._write(f"{printable(text)}\n")

    def _paint(self, text: str, colour: Colour | None) -> str:
        if not self._coloured or colour is None:
            return text
        return f"\x1b[{colour}m{text}\x1b[0m"

    def _write(self, text: str) -> None:
        encoding = self._out.encoding or "utf-8"
        self._out.write(text.encode(encoding, "replace").decode(encoding))
        self._out.flush()


def wants_colour(out: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether a person looks and has not said NO_COLOR (https://no-color.org)."""
    return (
        out.isatty() and not environment.get("NO_COLOR") and environment.get("TERM", "") != "dumb"
    )


def printable(text: str) -> str:
    """The text on one line, without characters that could steer a terminal."""
    return "".join(_harmless(character) for character in text)


def shortened(text: str) -> str:
    """The text on one line, runs of white space folded, cut after some lines' worth."""
    folded = " ".join(text.split())
    if len(folded) <= _SHORT_CHARACTERS:
        return folded
    return f"{folded[:_SHORT_CHARACTERS]} [...]"


def _harmless(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else "\N{REPLACEMENT CHARACTER}"
