"""Whether sources are too thin for what an answer says, and whether it abstains without need.

Counted are distinct stems of words that say something, and distinct numbers. It is a rule of thumb:
what it was measured on is in docs/gates/abstain.md.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from proxy.gates.abstention import Reading
from proxy.gates.evidence.check import EvidenceCheck
from proxy.gates.evidence.findings import TYPED
from proxy.gates.evidence.sources import Sources
from proxy.gates.evidence.tongues import language_of, stems
from proxy.gates.evidence.vocabulary import Vocabulary, content_words

_NUMBER: Final = re.compile(r"\d+(?:[.,'\u2019\u00a0 ]\d+)*")
_NO_DIGIT: Final = re.compile(r"\D")
_PIECE: Final = 2_000
# An answer of so few words of its own cannot be judged; one that denies something may have more.
_TOO_FEW: Final = 2
_SHORT_DENIAL: Final = 6
_SHORT_REST: Final = 5
_NEW_SHARE: Final = 0.3
_NEW_SHARE_BESIDE_ABSTAINING: Final = 0.5
_MANY_ACROSS_LANGUAGES: Final = 2
# An answer that tells more words than this of the sources does not abstain.
_TOLD: Final = 3
_FEWEST_ASKED: Final = 2
_ANSWERABLE: Final = 0.6
_STRETCH: Final = 40
# What a request says about the text that it wants, not about its subject.
_ORDER: Final = """
schreibe schreib verfasse erstelle formuliere mache nenne gib fasse zusammen zusammenfassung
beantworte antworte antwort frage folgende folgenden text quelle quellen material artikel satz sätze
sätzen wort worte wörter zeichen kurz kurze kurzen kurzer teaser titel kurztext meldung thema bitte
anhand grundlage verwende nur deutsch englisch json höchstens mindestens write draft create make
give name list summarise summarize summary answer question following text source sources material
article sentence sentences word words character characters short teaser title headline topic please
based use only using german english
"""
_BLANK: Final = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Substance:
    """What a text says: its stems and numbers."""

    stems: frozenset[str]
    numbers: frozenset[str]

    def __len__(self) -> int:
        return len(self.stems) + len(self.numbers)

    def without(self, other: "Substance") -> "Substance":
        return Substance(self.stems - other.stems, self.numbers - other.numbers)


def substance(text: str, language: str, enough: int | None = None) -> Substance:
    """Stems and numbers of a text. Reading stops where there are `enough`."""
    found: set[str] = set()
    numbers: set[str] = set()
    start = 0
    while start < len(text) and (enough is None or len(found) + len(numbers) < enough):
        end = _word_end(text, start + _PIECE) if enough is not None else len(text)
        piece = text[start:end]
        found.update(stems([word for _, _, word in content_words(piece, language)], language))
        numbers.update(_NO_DIGIT.sub("", number) for number in _NUMBER.findall(piece))
        start = end
    return Substance(frozenset(found), frozenset(numbers))


@dataclass(frozen=True, slots=True)
class ThinRule:
    """Sources are thin below `always_below`; below `below` if the answer says more than they do."""

    always_below: int
    below: int
    check: EvidenceCheck = field(default_factory=lambda: EvidenceCheck(kinds=TYPED))

    def load(self) -> None:
        """Import stemmers and the like now, so that the first judgement is as quick as any."""
        for language in ("de", "en"):
            stems(("x",), language)
        self.check.findings("Um 7 Uhr.", "")

    def is_overconfident(self, answer: Reading, sources: Sources) -> bool | None:
        """Whether an answer says what thin sources cannot bear; None where they are not thin."""
        evidence_text = sources.text
        written = language_of(evidence_text) or language_of(sources.asked)
        language = language_of(answer.rest) or written
        evidence = substance(evidence_text, written or language, enough=max(self.below, 1))
        if len(evidence) >= max(self.below, self.always_below):
            return None
        asked = substance(sources.asked, language)
        claims = substance(answer.rest, language).without(asked)
        if not self._is_thin(len(evidence), len(claims)):
            return None
        if len(claims) <= _TOO_FEW or _is_short_denial(answer, claims):
            return False
        findings = self.check.findings(answer.rest, evidence_text, sources.asked)
        if any(finding.is_flag for finding in findings):
            return True
        if written not in ("", language):
            return len(claims) > _MANY_ACROSS_LANGUAGES * len(evidence)
        return _says_new_things(answer, language, len(claims), sources)

    def _is_thin(self, evidence: int, claims: int) -> bool:
        return evidence < self.always_below or (evidence < self.below and claims > evidence)


def is_needless(answer: Reading, full_answer: str, sources: Sources) -> bool:
    """Whether an answer to sources that are not thin abstains though they have what was asked.

    An answer that tells something of the sources does not abstain. A question is held to be
    answerable where its own words stand near each other in a source; an order to write something
    about the sources always is.
    """
    if not answer.abstains:
        return False
    text = sources.text
    language = language_of(text) or language_of(sources.question)
    asked = substance(sources.asked, language)
    if len(substance(answer.rest, language).without(asked)) > _SHORT_REST:
        return False
    told = substance(full_answer, language).without(asked)
    source = substance(text, language)
    if len(told.stems & source.stems) + len(told.numbers & source.numbers) > _TOLD:
        return False
    written = language_of(sources.question)
    if written and written != language:
        return False
    question = substance(sources.question, language).stems - frozenset(
        stems(_ORDER.split(), language)
    )
    if len(question) < _FEWEST_ASKED:
        return True
    return _most_together(question, text, language) >= _ANSWERABLE * len(question)


def _most_together(wanted: frozenset[str], text: str, language: str) -> int:
    """How many of these stems stand within one stretch of the text."""
    words = stems([word for _, _, word in content_words(text, language)], language)
    best = 0
    counts: dict[str, int] = {}
    for place, stem in enumerate(words):
        if stem in wanted:
            counts[stem] = counts.get(stem, 0) + 1
        leaving = words[place - _STRETCH] if place >= _STRETCH else ""
        if leaving in counts:
            counts[leaving] -= 1
            if not counts[leaving]:
                del counts[leaving]
        best = max(best, len(counts))
    return best


def _is_short_denial(answer: Reading, claims: Substance) -> bool:
    return answer.denies and not claims.numbers and len(claims) <= _SHORT_DENIAL


def _says_new_things(answer: Reading, language: str, claims: int, sources: Sources) -> bool:
    """Whether too many of an answer's own words are new; beside an abstention it may have more."""
    share = _new_share(answer.rest, language, (sources.text, sources.asked))
    if answer.abstains:
        return claims > _SHORT_REST and share >= _NEW_SHARE_BESIDE_ABSTAINING
    return share >= _NEW_SHARE


def _new_share(text: str, language: str, known: tuple[str, str]) -> float:
    """The share of an answer's own words that neither sources nor request have."""
    evidence, asked = (Vocabulary([each], language) for each in known)
    words = {word for _, _, word in content_words(text, language)}
    own = [word for word in words if not asked.knows_exactly(word)]
    return sum(not evidence.knows(word) for word in own) / max(1, len(own))


def _word_end(text: str, at: int) -> int:
    """The end of the word at a place."""
    blank = _BLANK.search(text, at)
    return blank.start() if blank else len(text)
