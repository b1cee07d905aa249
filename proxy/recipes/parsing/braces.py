"""Placeholders in a recipe's command, by the one rule that reads every public recipe.

A placeholder is a pair of braces round an identifier that is a known key. Doubled braces are
single ones where the command holds a doubled opening brace, as Python's `str.format` wants them;
every other brace stands for itself, so that `{"method":"mtp"}` may be written as it is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MAX_PASSES: Final = 10
MAX_CHARACTERS: Final = 64 * 1024
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_DOUBLED_OR_PLACEHOLDER: Final = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}")


class EndlessValue(ValueError):
    """Values name each other more than ten deep, or grow beyond `MAX_CHARACTERS`.

    The message reads on from what is filled in.
    """


@dataclass(frozen=True, slots=True)
class Values:
    """The values of placeholders.

    `nested`: values may hold placeholders themselves, up to ten deep, as sparkrun fills them in.
    """

    by_name: Mapping[str, str]
    nested: bool = False

    def fill(self, text: str, *, doubled: bool = False) -> str:
        """The text with its placeholders filled in; `doubled`: the command doubles its braces.

        Raises `EndlessValue`.
        """
        return _Filling(self).fill(text, _DOUBLED_OR_PLACEHOLDER if doubled else _PLACEHOLDER)


class _Filling:
    """Fills one text. Each value is filled once, so that short texts cannot cost much."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._filled: dict[str, str] = {}
        self._open: list[str] = []

    def fill(self, text: str, pattern: re.Pattern[str]) -> str:
        parts, at, length = [], 0, 0
        for found in pattern.finditer(text):
            parts += [text[at : found.start()], self._replacement(found)]
            at = found.end()
            length += len(parts[-1]) + len(parts[-2])
            if length > MAX_CHARACTERS:
                raise EndlessValue(f"grows beyond {MAX_CHARACTERS} characters")
        return "".join(parts) + text[at:]

    def _replacement(self, found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            return found[0][0]
        if name not in self._values.by_name:
            return found[0]
        if name not in self._filled:
            self._filled[name] = self._value(name)
        return self._filled[name]

    def _value(self, name: str) -> str:
        value = self._values.by_name[name]
        if not self._values.nested:
            return value
        if name in self._open or len(self._open) >= MAX_PASSES:
            chain = ", ".join(f"`{each}`" for each in [*self._open, name])
            raise EndlessValue(f"needs values that name each other: {chain}")
        self._open.append(name)
        filled = self.fill(value, _PLACEHOLDER)
        self._open.pop()
        return filled


def doubles_braces(command: str) -> bool:
    """Whether a command writes `{{` for a brace, as `str.format` wants it."""
    return "{{" in command


def placeholders(text: str) -> tuple[str, ...]:
    """Every name in braces that could be a placeholder, known or not, in order."""
    return tuple(found[1] for found in _PLACEHOLDER.finditer(text))
