"""German and English: their commonest words, their stems, and which of them a text is written in.

Where PyStemmer is first used it is imported: a proxy whose policies have no evidence gate does
without it.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Final, Protocol

WORD: Final = re.compile(r"[^\W\d_]+")

_GERMAN: Final = """
aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bereits
bin bis bist da dabei dadurch dafür damit danach dann daran darauf darin darüber das dass davon
dazu dein dem den denen denn der deren des deshalb dessen die dies diese diesem diesen dieser
dieses doch dort du durch ebenfalls eigene ein eine einem einen einer eines einige einigen er es
etwa etwas euch für gegen gibt habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr
ihre ihrem ihren ihrer im in indem ins ist ja jede jedem jeden jeder jedes jedoch jene kann kein
keine keinem keinen keiner können könnte man manche mehr mein mit muss müssen nach nicht nichts
noch nun nur ob oder ohne rund schon sehr sei seien sein seine seinem seinen seiner seit selbst
sich sie sind so sodass solche sollen sollte sondern sowie soll trotz über um und uns unser
unter vom von vor während war wäre waren warum was weil weitere weiteren welche welchem welchen
welcher welches wenn wer werde werden wie wieder will wir wird wo wurde wurden würde zu zum zur
zwar zwischen laut gemäss sowohl wobei wodurch woher wohin beziehungsweise bzw usw etc ab je pro
insgesamt knapp fast ungefähr circa ca gut dagegen dies heute
"""
_ENGLISH: Final = """
a about above after again against all also although am among an and another any are around as at
be because been before being below between both but by can cannot could did do does doing done
down during each either else even ever every few for from further had has have having he her
here hers herself him himself his how however i if in instead into is it its itself just least
less like made make many may me might more most much must my near nearly neither no nor not now
of off often on once one only onto or other others our out over own per rather same several
shall she should since so some such than that the their them themselves then there these they
this those though through thus to today together too toward towards under until up upon us used
using very via was we well were what when where whether which while who whom whose why will with
within without would yes yet you your also approximately roughly almost s t re ve ll d don doesn
didn isn aren wasn weren
"""
_FRENCH: Final = """
le la les un une des du de et est sont dans par pour que qui sur avec ce cette ces il elle ils
nous vous au aux ne pas plus ou mais se sa son ses été être leur dont a
"""
_ITALIAN: Final = """
il lo la gli le un una di del della dei delle e è sono in per che chi con questo questa non più
ma si sua suo al alla nel nella dal come anche ha
"""

STOP_WORDS: Final = {"de": frozenset(_GERMAN.split()), "en": frozenset(_ENGLISH.split())}
_MARKS: Final = {
    "de": frozenset(_GERMAN.split()) - frozenset(_ENGLISH.split()),
    "en": frozenset(_ENGLISH.split()) - frozenset(_GERMAN.split()),
    "fr": frozenset(_FRENCH.split()) - frozenset(_ENGLISH.split()) - frozenset(_GERMAN.split()),
    "it": frozenset(_ITALIAN.split()) - frozenset(_ENGLISH.split()) - frozenset(_GERMAN.split()),
}
_STEMMERS: Final = {"de": "german", "en": "english"}
_SAMPLE: Final = 4000
_FEWEST: Final = 2


def language_of(text: str) -> str:
    """The language of most of the commonest words at the beginning; "" where too few say it."""
    counts = dict.fromkeys(_MARKS, 0)
    for word in WORD.findall(text[:_SAMPLE].lower()):
        for language, marks in _MARKS.items():
            if word in marks:
                counts[language] += 1
    best = max(counts, key=lambda language: counts[language])
    others = sum(count for language, count in counts.items() if language != best)
    return best if counts[best] >= _FEWEST and counts[best] > others else ""


class _Stemmer(Protocol):
    def stemWords(self, words: list[str]) -> list[str]: ...  # noqa: N802 - the library's name


@cache
def _stemmer(language: str) -> _Stemmer:
    import Stemmer  # noqa: PLC0415 - only where a policy names the gate

    stemmer: _Stemmer = Stemmer.Stemmer(_STEMMERS[language])
    return stemmer


def stems(words: Iterable[str], language: str) -> list[str]:
    """The stem of each word, in lower case; the word itself in languages without a stemmer here."""
    plain = [word.lower().replace("ß", "ss") for word in words]
    return _stemmer(language).stemWords(plain) if language in _STEMMERS else plain


def is_common(word: str, language: str) -> bool:
    """Whether a word says nothing by itself: "und", "the"."""
    common = STOP_WORDS.get(language)
    if common is None:
        return len(word) < 3  # noqa: PLR2004 - most such words are short in every language
    return word.lower() in common
