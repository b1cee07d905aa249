"""Which sentence of a source is nearest to a sentence of the answer."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from proxy.gates.evidence.findings import Span
from proxy.gates.evidence.source_index import SourceIndex
from proxy.gates.evidence.tongues import WORD, stems

# A word that more sentences have says little about any of them, and would take long to follow.
_MOST_SENTENCES: Final = 400


class NearestSentences:
    """Knows in which sentences of a source the words of one answer stand."""

    def __init__(self, index: SourceIndex, answer: str) -> None:
        self._index = index
        words = list(set(WORD.findall(answer)))
        self._stem_of = dict(zip(words, stems(words, index.language), strict=True))
        wanted = set(self._stem_of.values())
        self._sentences_with: dict[str, list[int]] = defaultdict(list)
        for number, there in enumerate(index.sentence_stems):
            for stem in there & wanted:
                self._sentences_with[stem].append(number)

    def numbers(self, words: Iterable[str], most: int = 1) -> list[int]:
        """The sentences that share most with these words, rare ones counting more; best first."""
        scores: dict[int, float] = defaultdict(float)
        for stem in {self._stem_of.get(word, "") for word in words}:
            there = self._sentences_with.get(stem, ())
            if len(there) <= _MOST_SENTENCES:
                for number in there:
                    scores[number] += 1 / len(there)
        return sorted(scores, key=lambda number: (-scores[number], number))[:most]

    def spans(self, text: str, most: int = 1) -> list[Span]:
        """The nearest sentences to a text, which is a part of the answer."""
        return [self._index.sentences[n] for n in self.numbers(WORD.findall(text), most)]

    def stems_of(self, words: Iterable[str]) -> set[str]:
        return {self._stem_of.get(word, "") for word in words}
