"""Cuts what an engine prints into lines, however it arrives and however long they are."""

from typing import Final

LINE_BYTES: Final = 16384


class LineSplitter:
    """A progress bar ends its lines with a carriage return; of a long line the rest is dropped."""

    def __init__(self) -> None:
        self._begun = bytearray()

    def feed(self, piece: bytes) -> list[str]:
        """The lines that are complete now, without their ends; empty ones are left out."""
        *ended, begun = piece.replace(b"\r", b"\n").split(b"\n")
        lines = []
        for part in ended:
            self._add(part)
            lines.append(self._take())
        self._add(begun)
        return [line for line in lines if line]

    def end(self) -> list[str]:
        """A last line without an end, if there is one."""
        line = self._take()
        return [line] if line else []

    def _add(self, part: bytes) -> None:
        self._begun += part[: LINE_BYTES - len(self._begun)]

    def _take(self) -> str:
        line = self._begun.decode(errors="replace")
        self._begun.clear()
        return line
