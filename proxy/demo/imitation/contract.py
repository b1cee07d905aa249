"""What a prompt asks of a text: its length, and the source that it must keep to."""

import random
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from proxy.demo.imitation.prose import clipped, prose

_LENGTH: Final = re.compile(
    r"\b(?P<name>\w+) (?:of|von) (?P<low>\d{1,5})(?: (?:to|bis) (?P<high>\d{1,5}))? "
    r"(?P<unit>words|characters|Wörtern|Zeichen)"
)
_TAGS: Final = ("source", "quelle")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+")
# What stands further back in a prompt is no contract.
_READ_CHARACTERS: Final = 65_536
_DEFAULT_WORDS: Final = (20, 160)


class Unit(StrEnum):
    WORDS = "words"
    CHARACTERS = "characters"


@dataclass(frozen=True, slots=True)
class Length:
    """From `least` to `most`, both included."""

    least: int
    most: int
    unit: Unit


@dataclass(frozen=True, slots=True)
class Contract:
    """`lengths` by the name of the text, as in "a teaser of 80 to 280 characters"."""

    lengths: dict[str, Length]
    source: str = ""

    def text(self, name: str, chance: random.Random) -> str:
        """A text of the length that was asked for; with a source, in the source's own words."""
        length = self.lengths.get(name)
        if length is None:
            words = chance.randint(*_DEFAULT_WORDS)
            length = Length(words, words, Unit.WORDS)
        if length.unit is Unit.WORDS:
            return self._words((length.least + length.most) // 2, chance)
        return self._characters(length, chance)

    def _words(self, count: int, chance: random.Random) -> str:
        if not self.source:
            return prose(count, chance)
        taken: list[str] = []
        for sentence in _SENTENCE_END.split(self.source):
            if len(taken) >= count:
                break
            taken += sentence.split()
        return " ".join(taken)

    def _characters(self, length: Length, chance: random.Random) -> str:
        text = self._words(1 + length.most // 5, chance)
        return clipped(text, length.least, length.most)


def read_contract(question: str) -> Contract:
    """Read the beginning of a prompt, in time that grows with its length and no more."""
    read = question[:_READ_CHARACTERS]
    lengths = {found["name"].lower(): _length(found) for found in _LENGTH.finditer(read)}
    sources = filter(None, (_between(read, f"<{tag}>", f"</{tag}>") for tag in _TAGS))
    return Contract(lengths, next(sources, ""))


def _between(text: str, begin: str, end: str) -> str:
    """What stands between the first beginning and the end that follows it."""
    _, _, rest = text.partition(begin)
    inside, closed, _ = rest.partition(end)
    return inside.strip() if closed else ""


def _length(found: re.Match[str]) -> Length:
    least = int(found["low"])
    unit = Unit.WORDS if found["unit"] in {"words", "Wörtern"} else Unit.CHARACTERS
    return Length(least, int(found["high"] or least), unit)
