"""Number words that stand together as one number: "two hundred and five", "zwei Drittel"."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from proxy.gates.evidence.number_words import fraction_value, measured_word, word_value

MOST_WORDS: Final = 100_000
_MULTIPLIERS: Final = {"hundred": 100.0, "thousand": 1000.0, "hundert": 100.0, "tausend": 1000.0}
_FIRST_LETTERS: Final = """
null zwei zwo drei dritt vier fünf fuenf sechs sech sieb acht neun zehn elf zwölf zwoelf zwanzig
dreissig dreiß hundert tausend anderthalb einund eineinhalb einhundert eintausend zero two three
four five six seven eight nine ten eleven twelve thirteen fifteen twenty thirty forty fourty fifty
third fifth ninth twelfth hundredth half hälfte drittel viertel fünftel sechstel achtel zehntel
quarter tenth thousand
"""
_BEGINNINGS: Final = frozenset(word[:3] for word in _FIRST_LETTERS.split())
_ORDINALS: Final = re.compile(r"(?:te[nmrs]?|th|rd)\Z", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"(?:[ -]| and | und )\Z")
_POINT: Final = re.compile(r" (?:point|dot|Komma|komma) \Z")
_EACH: Final = re.compile(r"\b(?:jede[rsmn]?|every)[ ]\Z", re.IGNORECASE)
_ONE_IN: Final = re.compile(r"\bone (?:in|out of)[ ]\Z", re.IGNORECASE)
_OF: Final = re.compile(r" (?:of|der|des|von|aller)\b")
_BACK: Final = 14


@dataclass(frozen=True, slots=True)
class NumberPhrase:
    """`is_share`: a fraction; its values are between 0 and 1. `unit`: one that the word names."""

    start: int
    end: int
    values: tuple[float, ...]
    step: float
    is_share: bool = False
    is_ordinal: bool = False
    unit: str = ""


def number_phrases(text: str, words: Collection[str]) -> Iterator[NumberPhrase]:
    """The phrases of a text. `words`: its distinct words."""
    for word in words:
        measure = measured_word(word) if word[:3].lower() in _BEGINNINGS else None
        if measure is not None:
            for match in re.finditer(rf"(?<![^\W_]){word}(?![^\W_])", text):
                yield NumberPhrase(*match.span(), (measure[0],), 1.0, unit=measure[1])
    yield from _plain_phrases(text, _values_of(words))


def _values_of(words: Collection[str]) -> dict[str, float | None]:
    """The number words among others; None for fractions and what multiplies."""
    values: dict[str, float | None] = {}
    for word in words:
        lower = word.lower()
        if lower[:3] in _BEGINNINGS:
            value = word_value(lower)
            if value is not None or fraction_value(lower) is not None or lower in _MULTIPLIERS:
                values[word] = value
    return values


def _plain_phrases(text: str, values: dict[str, float | None]) -> Iterator[NumberPhrase]:
    if not values:
        return
    values.setdefault("one", None)
    either = "|".join(sorted(map(re.escape, values), key=len, reverse=True))
    matches = re.finditer(rf"(?<![^\W_])(?:{either})(?![^\W_])", text)
    found = list(islice(matches, MOST_WORDS))
    place = 0
    while place < len(found):
        stop = place + 1
        while stop < len(found) and _continues(text, found[stop - 1], found[stop], values):
            stop += 1
        phrase = _phrase(text, found[place:stop], values)
        if phrase is not None:
            yield phrase
        place = stop


def _continues(
    text: str, one: re.Match[str], after: re.Match[str], values: dict[str, float | None]
) -> bool:
    between = text[one.end() : after.start()]
    if _POINT.match(between):
        return True
    if not _BETWEEN.match(between):
        return False
    first, second = one[0].lower(), after[0].lower()
    if fraction_value(second) is not None or second in _MULTIPLIERS or first in _MULTIPLIERS:
        return True
    tens, ones = values[one[0]], 1.0 if second == "one" else values[after[0]]
    if tens is None or ones is None or len(between) > 1:
        return False
    return tens >= 20 and tens % 10 == 0 and ones < 10  # noqa: PLR2004 - twenty-one


def _phrase(
    text: str, found: list[re.Match[str]], values: dict[str, float | None]
) -> NumberPhrase | None:
    start, end = found[0].start(), found[-1].end()
    last = found[-1][0].lower()
    share = fraction_value(last)
    before = text[max(0, start - _BACK) : start]
    value = values[found[0][0]] if len(found) == 1 else None
    if value and (_ONE_IN.search(before) or (_EACH.search(before) and _ORDINALS.search(last))):
        return NumberPhrase(start, end, (1 / value,), 0.01, is_share=True)
    if share is not None and (
        len(found) > 1 or values[found[0][0]] is None or _OF.match(text, end)
    ):
        count = _total(found[:-1], values) if len(found) > 1 else 1.0
        return NumberPhrase(start, end, (count * share,), 0.01, is_share=True)
    total = _total(found, values)
    if len(found) > 1 and _POINT.match(text[found[-2].end() : found[-1].start()]):
        digits = f"{values[found[-1][0]] or 0:g}"
        total = float(f"{_total(found[:-1], values):g}.{digits}")
        return NumberPhrase(start, end, (total,), 10.0 ** -len(digits))
    if not total and last not in ("null", "zero"):
        return None
    bare = last if len(found) == 1 else ""
    is_ordinal = _ORDINALS.search(last) is not None and bare != "null"
    step = 100.0 if total % 1000 and not total % 100 else 1.0
    return NumberPhrase(start, end, (total,), step, is_ordinal=is_ordinal)


def _total(found: list[re.Match[str]], values: dict[str, float | None]) -> float:
    total = current = 0.0
    for match in found:
        factor = _MULTIPLIERS.get(match[0].lower())
        if factor is None:
            current += 1.0 if match[0] == "one" and current else values[match[0]] or 0.0
        elif len(found) == 1:
            return 0.0  # "hundreds of" says no number; "a hundred" is read elsewhere
        else:
            current = (current or 1.0) * factor
            if factor >= 1000:  # noqa: PLR2004 - what follows a thousand is added to it
                total, current = total + current, 0.0
    return total + current
