"""Where an answer says that it cannot say: the sentences that abstain, and what else it says."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from proxy.gates.wordings import compile_pattern

_GAP: Final = r"[^.!?\n]{0,120}"
# A sentence that denies something and speaks of its material, or of the text that was asked for.
_DENIAL: Final = (
    r"\b(?:nichts?|nirgends|kein\pL{0,3}|ohne|fehl(?:t|en)|leer|schweig(?:t|en)|unzureichend\pL{0,2}|unklar"
    r"|unbekannt|offen|zu (?:wenig|dünn|knapp|kurz|dürftig|mager)|not?|never|cannot|can['\x{2019}]t"
    r"|\pL+n['\x{2019}]t|nothing|none|without|lack(?:s|ing)?|insufficient|silent|unclear|unknown"
    r"|unable|missing|unavailable|too (?:thin|short|brief|little))\b"
)
_MATERIAL: Final = (
    r"\b(?:quelle|(?:ausgangs|quell)?text|unterlagen|material|notiz|vorlage|anfrage|artikel|auszug"
    r"|dokument|meldung|kontext|grundlage|basis|angabe|information|auskunft|hinweis|aussage|daten"
    r"|details|beleg|inhalt|zusammenfassung|teaser|kurztext|frage|antwort|source|note|document"
    r"|article|passage|context|excerpt|request|detail|data|evidence|mention|reference|input"
    r"|summar|question|answer|headline)\pL{0,5}"
)
_GERMAN: Final = (
    rf"\b(?:geht|gehen)\b{_GAP}\bnicht{_GAP}\bhervor|\bnur hervor\b",
    rf"\bl(?:ä|ae)(?:ss|ß)t sich{_GAP}\bnicht\b|\blassen sich{_GAP}\bnicht\b",
    rf"\b(?:ist|sind|wird|werden|wurden?){_GAP}\bnicht (?:\pL+ )?(?:an|ge|er|be|vor|auf|ver)\pL+",
    r"\b(?:bleibt|bleiben) (?:\pL+ )?(?:offen|unklar|unbekannt)|\bk\. ?a\.",
    rf"\b(?:ich|wir|man) kann{_GAP}\b(?:nicht|kein)|\bkann (?:ich|man){_GAP}\b(?:nicht|kein)",
    r"\bwei(?:ss|ß) ich nicht|\bmir nicht bekannt|\bnicht (?:zu )?entnehmen|\b(?:nur|müsste) raten",
    rf"\b(?:reich|genüg)(?:t|en){_GAP}\bnicht\b|\b(?:dazu|hierzu|darüber){_GAP}\bnichts\b",
    rf"\b(?:benötige|brauche|bräuchte|bitte){_GAP}{_MATERIAL}",
    r"^\W*(?:nicht angegeben|unbekannt|keine|entfällt|fehlt)\W*$",
)
_ENGLISH: Final = (
    (
        r"\b(?:does|do|did)(?: not|n['\x{2019}]t) (?:\pL+ )?(?:say|state|mention|specify|contain"
        r"|give|provide|include|indicate|tell|cover|address|answer|know|support|allow|reveal|appear)\b"
    ),
    (
        r"\b(?:is|are|was|were)(?: not|n['\x{2019}]t) (?:\pL+ )?(?:stated|mentioned|specified"
        r"|given|told|provided|included|available|known|clear|indicated|named|said|covered|possible)\b"
    ),
    (
        rf"\b(?:can ?not|can['\x{2019}]t|could(?: not|n['\x{2019}]t)|(?:un|not )able to){_GAP}"
        r"\b(?:answer|determine|tell|confirm|say|verif|know|summari|provide|find|see|locate)"
    ),
    r"\b(?:source|note|text|document|article) only (?:says|states|mentions)\b|\bhave to guess\b",
    rf"\b(?:please|need|require)\b{_GAP}{_MATERIAL}",
    r"^\W*(?:n/?a|unknown|none|not (?:available|stated|specified|given)|no answer)\W*$",
)
_FRENCH: Final = (
    (
        r"\b(?:ne|n['\x{2019}]) ?(?:(?:le|la|les|l['\x{2019}]) ?)?(?:dit|précise|mentionne|contient"
        r"|indique|donne|permet)(?:nt)? (?:pas|rien|aucun)"
    ),
    r"\bpas (?:assez|suffisamment) d['\x{2019}]|\baucune (?:information|indication|précision)",
    r"\best pas (?:précisé|mentionné|indiqué|connu)|\bne peux pas (?:répondre|dire)",
)
_ITALIAN: Final = (
    (
        r"\bnon (?:(?:lo|la|li|ne) )?(?:dice|precisa|menziona|contiene|indica|fornisce|riporta"
        r"|permette|specifica)\b"
    ),
    r"\binformazioni (?:in)?sufficienti|\bnessuna (?:informazione|indicazione)",
    r"\bnon è (?:indicato|specificato|menzionato|noto|precisato)|\bnon posso (?:rispondere|dire)",
)
_DENIES: Final = rf"{_DENIAL}{_GAP}{_MATERIAL}|{_MATERIAL}{_GAP}{_DENIAL}"
_BUILT_IN: Final = (*_GERMAN, *_ENGLISH, *_FRENCH, *_ITALIAN)
# Longer sentences deny many things; only the plain ways of abstaining count in them.
_LONG_DENIAL: Final = 16
_SENTENCE_END: Final = re.compile(r"(?<=[\w)\"][\w)\"][.!?;])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer apart: whether some of it abstains, and the sentences that do not.

    `denies`: something is denied in it, which a short answer to thin sources does when it abstains
    in words that nobody foresaw.
    """

    abstains: bool
    denies: bool
    rest: str


class Abstention:
    """Knows how abstaining is said, in four languages and in the words of a policy."""

    def __init__(self, phrases: Collection[str] = ()) -> None:
        """`phrases` are plain words; capitals and white space do not matter."""
        own = [r"\s+".join(map(_escaped, phrase.split())) for phrase in phrases]
        self._pattern: Any = compile_pattern("(?i)" + "|".join([*own, *_BUILT_IN]))
        self._denies_material: Any = compile_pattern("(?i)" + _DENIES)
        self._denial: Any = compile_pattern("(?i)" + _DENIAL)

    def read(self, answer: str) -> Reading:
        """Take an answer apart, in time linear in its length."""
        sentences = [sentence for sentence in _SENTENCE_END.split(answer) if sentence.strip()]
        rest = [sentence for sentence in sentences if not self._abstains(sentence)]
        denies = _holds(self._denial, answer)
        return Reading(len(rest) < len(sentences), denies, "\n".join(rest))

    def _abstains(self, sentence: str) -> bool:
        if _holds(self._pattern, sentence):
            return True
        is_short = sentence.count(" ") < _LONG_DENIAL
        return is_short and _holds(self._denies_material, sentence)


def _holds(pattern: Any, text: str) -> bool:
    return pattern.search(text.encode("utf-8", "replace")) is not None


def _escaped(word: str) -> str:
    return "".join(sign if sign.isalnum() else f"\\x{{{ord(sign):x}}}" for sign in word)
