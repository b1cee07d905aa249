"""The words that a text has: which stems, and whether another word is new beside them."""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final

from proxy.gates.evidence.tongues import STOP_WORDS, WORD, is_common, stems

_SHORTEST_PART: Final = 4
_COMMON_BEGINNING: Final = 6
_SHORTEST: Final = 3
_PLURAL_ACRONYM: Final = re.compile(r"[A-ZÄÖÜ]{2,}s\Z")


class Vocabulary:
    """The distinct words of texts in one language, stemmed."""

    def __init__(self, texts: Iterable[str], language: str) -> None:
        self.language = language
        self.words: set[str] = set()
        for text in texts:
            self.words.update(WORD.findall(text))
        words = list(self.words)
        self._stem_of = dict(zip(words, stems(words, language), strict=True))
        self._lower = {word.lower() for word in words}
        self._lower.update(word[:-1].lower() for word in words if _PLURAL_ACRONYM.match(word))
        self._stems = set(self._stem_of.values())
        self._beginnings = {stem[:_COMMON_BEGINNING] for stem in self._stems}

    @cached_property
    def content_stems(self) -> dict[str, str]:
        """The stem of each word; "" for the commonest words."""
        common = STOP_WORDS.get(self.language, frozenset())
        return {
            word: "" if word.lower() in common else stem for word, stem in self._stem_of.items()
        }

    def knows(self, word: str) -> bool:
        """Whether a word, its stem, or for German the parts of a compound are there."""
        if word.lower() in self._lower:
            return True
        (stem,) = stems([word], self.language)
        if stem in self._stems:
            return True
        if len(stem) > _COMMON_BEGINNING and stem[:_COMMON_BEGINNING] in self._beginnings:
            return True
        return self.language == "de" and self._is_compound(stem)

    def knows_exactly(self, word: str) -> bool:
        return word.lower() in self._lower

    def _is_compound(self, stem: str) -> bool:
        """Whether the beginning or the end of a long word is a word of the text."""
        return any(
            stem[:cut] in self._stems or stem[cut:] in self._stems
            for cut in range(_SHORTEST_PART, len(stem) - _SHORTEST_PART + 1)
        )


def content_words(text: str, language: str) -> list[tuple[int, int, str]]:
    """The words of a text that say something, with their places."""
    common = STOP_WORDS.get(language)
    return [
        (match.start(), match.end(), match[0])
        for match in WORD.finditer(text)
        if len(match[0]) >= _SHORTEST
        and (match[0].lower() not in common if common else not is_common(match[0], language))
    ]
