"""Names that neither the sources nor the question have. Hints: a name may be right all the same."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from proxy.gates.evidence.findings import Span
from proxy.gates.evidence.months import MONTHS, WEEKDAYS
from proxy.gates.evidence.number_words import word_value
from proxy.gates.evidence.quantity import SCALES
from proxy.gates.evidence.tongues import STOP_WORDS, WORD, is_common
from proxy.gates.evidence.units import UNITS
from proxy.gates.evidence.vocabulary import Vocabulary

_WORD: Final = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_ODD_CASE: Final = re.compile(r"[A-ZÄÖÜ]{2,}s\Z|[^\W\d_]*[a-zäöü][A-ZÄÖÜ]")
_TITLE: Final = re.compile(
    r"\b(?:Herrn?|Frau|Dr|Prof|Professorin|Professor|Präsident(?:in)?|Minister(?:in)?|Mr|Mrs|Ms|St"
    r"|König(?:in)?|Papst|Kaiser(?:in)?|Pope|King|Queen|President|Captain|General)\.? \Z"
)
# "von Basel": nouns have an article there, or an ending that names seldom have.
_WITHOUT_ARTICLE: Final = re.compile(r"\b(?:von|in|aus|nach|bei) \Z")
_NOUN_END: Final = re.compile(
    r"(?:e|en|ern|er|eln|ung|heit|keit|ion|tät|schaft|ismus|ment|enz|anz|ur|ik|stoff|tum|nis|ling)\Z"
)
_BETWEEN: Final = re.compile(r"[ ](?:(?:of|de|da|di|von|van|der|den|la|le|the|and|&)[ ]){0,2}\Z")
_BACK: Final = 24
_OPENING: Final = ':("\u201e\u201c\u00ab\u2039'
_SHORTEST: Final = 2
_LONGEST_ACRONYM: Final = 6
_ACRONYM: Final = re.compile(r"[A-Z]{2,6}\Z")


class KnownNames:
    """Which words and short forms are known from the sources and the question."""

    def __init__(self, vocabularies: Sequence[Vocabulary], texts: Sequence[str]) -> None:
        self._vocabularies = vocabularies
        self._acronyms = {
            word for one in vocabularies for word in one.words if _ACRONYM.match(word)
        }
        self._texts = texts
        self._initials: str | None = None

    def knows(self, word: str) -> bool:
        parts = WORD.findall(word)
        return all(any(one.knows(part) for one in self._vocabularies) for part in parts)

    def spells_out(self, name: str) -> bool:
        """Whether a name is a long form of an acronym there: "London Heathrow" for LHR."""
        letters = "".join(WORD.findall(name)).lower()
        return any(_is_inside(acronym.lower(), letters) for acronym in self._acronyms)

    def abbreviates(self, word: str) -> bool:
        """Whether an acronym is made of the first letters of words that follow each other."""
        if not _ACRONYM.match(word):
            return False
        if self._initials is None:
            self._initials = "\n".join(
                "".join(found[0] for found in WORD.findall(text)) for text in self._texts
            ).lower()
        return word.lower() in self._initials


def _is_inside(short: str, letters: str) -> bool:
    """Whether all letters of a short form come in this order, the first one first."""
    if not letters.startswith(short[0]) or len(short) < 3:  # noqa: PLR2004 - two letters fit anything
        return False
    rest = iter(letters)
    return all(letter in rest for letter in short)


def new_names(text: str, sentence: Span, language: str, known: KnownNames) -> Iterator[Span]:
    """Names of a sentence that are not known, each as a range."""
    for whole in _runs(text, sentence):
        run = _without_article(text, whole, language)
        words = [text[start:end] for start, end in run]
        unknown = [not known.knows(word) and not _is_no_name(word, language) for word in words]
        if not any(unknown):
            continue
        first, last = unknown.index(True), len(unknown) - 1 - unknown[::-1].index(True)
        span = Span(run[first][0], run[last][1])
        name = span.of(text)
        if known.spells_out(name) or known.abbreviates(name):
            continue
        if _is_name(text, sentence, run, first, language):
            yield span


def _runs(text: str, sentence: Span) -> Iterator[list[tuple[int, int]]]:
    """Capitalised words that stand together, with "of", "von" and the like between them."""
    run: list[tuple[int, int]] = []
    for match in _WORD.finditer(text, sentence.start, sentence.end):
        if not match[0][0].isupper():
            continue
        between = text[run[-1][1] : match.start()] if run else ""
        if run and not _BETWEEN.match(between):
            yield run
            run = []
        run.append(match.span())
    if run:
        yield run


def _without_article(text: str, run: list[tuple[int, int]], language: str) -> list[tuple[int, int]]:
    """A run without the words before its names: articles, numbers, units."""
    place = 0
    while place < len(run) and _is_no_name(text[run[place][0] : run[place][1]], language):
        place += 1
    return run[place:]


def _is_no_name(word: str, language: str) -> bool:
    lower = word.lower()
    return (
        len(word) < _SHORTEST
        or lower in MONTHS
        or lower in WEEKDAYS
        or lower in UNITS
        or word_value(lower) is not None
        or lower in SCALES
        or is_common(lower, language)
        or lower in STOP_WORDS["en"]
    )


def _is_name(
    text: str, sentence: Span, run: list[tuple[int, int]], first: int, language: str
) -> bool:
    """Whether an unknown word of a run is more than a noun or the beginning of a sentence."""
    start, end = run[first]
    word = text[start:end]
    before = text[max(0, start - _BACK) : start]
    if _has_odd_case(word) or _TITLE.search(before):
        return True
    opens = _opens(text, sentence, start)
    is_long = len(run) > 1
    if language == "de":
        if _WITHOUT_ARTICLE.search(before) and not _NOUN_END.search(word):
            return True
        return is_long and len(run) - first > (1 if opens else 0) and _is_adjacent(text, run)
    return not opens or (is_long and first < len(run) - 1)


def _has_odd_case(word: str) -> bool:
    """Acronyms and words with capitals inside; a long word in capitals is only shouted."""
    if word.isupper():
        return _SHORTEST < len(word) <= _LONGEST_ACRONYM
    return _ODD_CASE.match(word) is not None


def _opens(text: str, sentence: Span, start: int) -> bool:
    """Whether nothing but signs stands before a word in its sentence."""
    before = text[sentence.start : start]
    return not any(sign.isalnum() for sign in before) or before.rstrip()[-1:] in _OPENING


def _is_adjacent(text: str, run: list[tuple[int, int]]) -> bool:
    return any(text[one[1] : after[0]] == " " for one, after in pairwise(run))
