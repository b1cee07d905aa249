"""Counts a text in the units that limits are written in, as people count who read it.

Words, graphemes and sentences are cut by libraries; they are loaded when a meter is made, so that
a proxy without such limits pays for none.
"""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final
from unicodedata import normalize

from proxy.gates.text_sentences import SentenceSplitter


class Unit(StrEnum):
    """What a limit counts."""

    GRAPHEMES = "graphemes"
    CHARACTERS = "characters"
    WORDS = "words"
    SENTENCES = "sentences"
    PARAGRAPHS = "paragraphs"
    LINES = "lines"
    TOKENS = "tokens"

    def of(self, count: int) -> str:
        """A count with its unit, as a model understands it: graphemes are its characters."""
        return f"{count} {self.noun(count)}"

    def noun(self, count: int) -> str:
        word = "characters" if self is Unit.GRAPHEMES else str(self)
        return word.removesuffix("s") if count == 1 else word


# Format characters that take no room and join nothing: soft hyphen, zero-width space, directions.
INVISIBLE: Final = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
# Letters that show nothing: fillers of Hangul and Braille.
_EMPTY_LETTERS: Final = "\u115f\u1160\u2800\u3164\uffa0"
_VISIBLE: Final = re.compile(rf"[^\W_{_EMPTY_LETTERS}]")
_HYPHENS: Final = frozenset("-\u2010\u2011")
_BLANK_LINES: Final = re.compile(r"\n[^\S\n]*\n\s*")


def whole(text: str) -> str:
    """The text with line feeds as line ends, its surrogate pairs joined, U+FFFD for half a pair."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: no letter, digit, mark or sign."""
    if _VISIBLE.search(text):
        return False
    seen = INVISIBLE.sub("", text)
    return not any(_shows(character) for character in set(seen))


def _shows(character: str) -> bool:
    """Whether a character that is no letter and no digit is seen; joiners and controls are not."""
    is_joiner = character in "\u200c\u200d" or "\ufe00" <= character <= "\ufe0f"
    is_empty = character in _EMPTY_LETTERS or is_joiner
    return not is_empty and not character.isspace() and character.isprintable()


class TextMeter:
    """Counts texts that `whole` has made. Linear in the text. Tokens only the model can count.

    What stands around a text, blanks and line ends, never counts.
    """

    def __init__(self) -> None:
        from icu4py.breakers import CharacterBreaker, WordBreaker  # noqa: PLC0415 - 42 MB of tables

        self._clusters = CharacterBreaker
        self._words = WordBreaker
        self.sentences = SentenceSplitter()
        self._counts: Mapping[Unit, Callable[[str], int]] = {
            Unit.GRAPHEMES: self._graphemes,
            Unit.CHARACTERS: lambda text: len(normalize("NFC", text)),
            Unit.WORDS: self._count_words,
            Unit.SENTENCES: self.sentences.count,
            Unit.PARAGRAPHS: lambda text: len(_BLANK_LINES.split(text)) if text else 0,
            Unit.LINES: lambda text: sum(not is_blank(line) for line in text.splitlines()),
        }

    def count(self, text: str, unit: Unit) -> int:
        return self._counts[unit](text.strip())

    def clusters(self, text: str) -> list[str]:
        """What a reader takes for one character each: letters with marks, emoji, flags."""
        return list(self._clusters(text, "en"))

    def _graphemes(self, text: str) -> int:
        if text.isascii():
            return len(text)
        seen = INVISIBLE.sub("", text).strip()
        return sum(1 for _ in self._clusters(seen, "en").segments())

    def _count_words(self, text: str) -> int:
        """Parts with a letter or digit; those that a hyphen joins, as in `E-Mail`, are one."""
        count, was_word, joins = 0, False, False
        for part in self._words(text, "de"):
            if _VISIBLE.search(part):
                count += not joins
                was_word, joins = True, False
            else:
                joins = was_word and part in _HYPHENS
                was_word = False
        return count
