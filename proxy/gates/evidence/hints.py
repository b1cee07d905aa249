"""Clauses that say more, or the reverse of, what a source says: causes, negations, new words.

Hints only: a paraphrase may use new words, and its cause may be told elsewhere.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from proxy.gates.evidence.findings import Span
from proxy.gates.evidence.months import MONTHS, WEEKDAYS
from proxy.gates.evidence.nearest import NearestSentences
from proxy.gates.evidence.number_words import fraction_value, word_value
from proxy.gates.evidence.quantity import SCALES
from proxy.gates.evidence.sentences import clauses
from proxy.gates.evidence.source_index import SourceIndex
from proxy.gates.evidence.units import UNITS
from proxy.gates.evidence.vocabulary import Vocabulary, content_words

_CAUSAL: Final = re.compile(
    r"\b(?:weil|da|denn|wegen|aufgrund|auf Grund|dank|infolge|sodass|so dass|damit"
    r"|um(?= .{3,120}?\bzu\b)|deshalb|daher|because|due to|owing to|thanks to|in order to|so that"
    r"|as a result|since|caused by|leads? to|led to|resulting|therefore)\b",
    re.IGNORECASE,
)
_NEGATION: Final = re.compile(
    r"\b(?:nicht|nie|niemals|kein\w*|weder|ohne|nichts|niemand|nirgends|not|never|none|no|nor|neither"
    r"|without|cannot|unable|nothing|nobody|lack\w*|fail\w*|hardly|mangel\w*|kaum)\b|n't\b",
    re.IGNORECASE,
)
NOT_DENIED: Final = "not denied"
_MOST_CAUSES: Final = 8
_FEWEST_IN_CAUSE: Final = 2
_CLAUSE_END: Final = re.compile(r"[,;]\s")
_SHORTEST_CAUSE: Final = 12
_FEWEST_IN_CLAUSE: Final = 3
_FEWEST_NEW: Final = 4
_HALF: Final = 0.5
_SAME: Final = 0.6
_NEAR: Final = 3


@dataclass(frozen=True, slots=True)
class Hint:
    span: Span
    words: tuple[str, ...]


def causal_hints(
    text: str, sentence: Span, language: str, known: list[Vocabulary]
) -> Iterator[Hint]:
    """Causes of which at least half the words are new."""
    causes = _CAUSAL.finditer(text, sentence.start, sentence.end)
    for match in islice(causes, _MOST_CAUSES):
        span = Span(match.start(), _end_of_clause(text, match.end(), sentence.end))
        words = content_words(span.of(text), language)
        new = [word for _, _, word in words if not _is_known(word, known)]
        if len(new) >= _FEWEST_IN_CAUSE and len(new) >= _HALF * len(words):
            yield Hint(span, tuple(new))
            return


def new_word_hints(
    text: str, sentence: Span, language: str, known: list[Vocabulary]
) -> Iterator[Hint]:
    """Clauses with at least four new words that are more than half of them."""
    for clause in clauses(text, sentence):
        words = content_words(clause.of(text), language)
        new = [word for _, _, word in words if not _is_known(word, known)]
        if len(new) >= _FEWEST_NEW and len(new) > _HALF * len(words):
            yield Hint(clause, tuple(new))


def new_answer_hint(text: str, language: str, known: list[Vocabulary]) -> Hint | None:
    """An answer of a few words, none of which is known."""
    words = content_words(text, language)
    if not words or len(words) >= _FEWEST_NEW:
        return None
    if any(_is_known(word, known) for _, _, word in words):
        return None
    return Hint(Span(words[0][0], words[-1][1]), tuple(word for _, _, word in words))


def negation_hint(
    text: str, sentence: Span, language: str, index: SourceIndex, nearest: NearestSentences
) -> Hint | None:
    """A sentence that denies what a source says in the same words, or asserts what it denies.

    No hint where another sentence in much the same words agrees.
    """
    words = content_words(sentence.of(text), language)
    if len(words) < _FEWEST_IN_CLAUSE:
        return None
    spoken = [word for _, _, word in words]
    own = nearest.stems_of(spoken)
    near = [
        number
        for number in nearest.numbers(spoken, _NEAR)
        if len(own & index.sentence_stems[number]) >= _SAME * len(own)
    ]
    denials = [_NEGATION.search(index.sentences[number].of(index.text)) for number in near]
    denied = _NEGATION.search(text, sentence.start, sentence.end)
    if not near or any((denial is None) == (denied is None) for denial in denials):
        return None
    if denied is not None:
        return Hint(Span(*denied.span()), (denied[0],))
    # The denial may stand in a part of the source's sentence that was left out.
    is_whole = len(own) >= _SAME * len(index.sentence_stems[near[0]])
    return Hint(sentence, (NOT_DENIED,)) if is_whole else None


def _is_known(word: str, known: list[Vocabulary]) -> bool:
    """Numbers, units and dates are compared as such, not as words."""
    lower = word.lower()
    if lower in UNITS or lower in MONTHS or lower in WEEKDAYS or lower in SCALES:
        return True
    if word_value(lower) is not None or fraction_value(lower) is not None:
        return True
    return any(vocabulary.knows(word) for vocabulary in known)


def _end_of_clause(text: str, start: int, end: int) -> int:
    match = _CLAUSE_END.search(text, start, end)
    return match.start() if match and match.start() - start > _SHORTEST_CAUSE else end
