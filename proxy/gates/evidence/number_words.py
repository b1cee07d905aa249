"""Numbers written as words, German and English: whole numbers, ordinals, fractions.

A single "ein" or "one" is no number here: it is an article far more often.
"""

import re
from typing import Final

_DE: Final = {
    "null": 0, "zwei": 2, "zwo": 2, "drei": 3, "vier": 4, "fünf": 5, "fuenf": 5, "sechs": 6,
    "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "elf": 11, "zwölf": 12, "zwoelf": 12,
    "dreizehn": 13, "vierzehn": 14, "fünfzehn": 15, "fuenfzehn": 15, "sechzehn": 16,
    "siebzehn": 17, "achtzehn": 18, "neunzehn": 19, "zwanzig": 20, "dreissig": 30, "vierzig": 40,
    "fünfzig": 50, "fuenfzig": 50, "sechzig": 60, "siebzig": 70, "achtzig": 80, "neunzig": 90,
}  # fmt: skip
_EN: Final = {
    "zero": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_EN_ORDINALS: Final = {
    "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12, "twentieth": 20,
    "thirtieth": 30, "fortieth": 40, "fiftieth": 50, "hundredth": 100,
}  # fmt: skip
_DE_ORDINALS: Final = {"dritt": 3, "siebt": 7, "acht": 8}
_HALVES: Final = {"anderthalb": 1.5, "eineinhalb": 1.5}
_FRACTIONS: Final = {
    "hälfte": 1 / 2, "half": 1 / 2, "drittel": 1 / 3, "viertel": 1 / 4, "fünftel": 1 / 5,
    "sechstel": 1 / 6, "achtel": 1 / 8, "zehntel": 1 / 10, "third": 1 / 3, "thirds": 1 / 3,
    "quarter": 1 / 4, "quarters": 1 / 4, "fifths": 1 / 5, "tenth": 1 / 10, "tenths": 1 / 10,
}  # fmt: skip
_ORDINAL_END: Final = re.compile(r"(?:s?te[nmrs]?)\Z")
_HUNDREDS: Final = re.compile(r"(?:(.*)tausend)?(?:(.*)hundert)?(?:und)?(.*)", re.DOTALL)
_LONGEST: Final = 60
_COMPOUND: Final = re.compile(
    r"(?P<number>[^\W\d_]{3,40}?)(?P<unit>minütig|stündig|tägig|wöchig|monatig|jährig)(?:e[nrsm]?)?"
)


def word_value(word: str) -> float | None:
    """The value of one word, whatever its case; None where it is no number."""
    word = word.lower().replace("ß", "ss")
    if len(word) > _LONGEST:
        return None
    for table in (_EN, _EN_ORDINALS, _HALVES):
        if word in table:
            return float(table[word])
    if word.endswith("einhalb") and word[:-7] in _DE:
        return _DE[word[:-7]] + 0.5
    if word.endswith("th") and word[:-2] in _EN:
        return float(_EN[word[:-2]])
    return _german(word)


def fraction_value(word: str) -> float | None:
    """The share that a word names: "Drittel", "half"."""
    return _FRACTIONS.get(word.lower())


def measured_word(word: str) -> tuple[float, str] | None:
    """The value and unit of a German compound: "achtwöchig" is 8 weeks."""
    match = _COMPOUND.fullmatch(word.lower())
    value = word_value(match["number"]) if match else None
    return (value, match["unit"]) if match and value is not None else None


def _german(word: str) -> float | None:
    cardinal = _german_cardinal(word)
    if cardinal is not None:
        return cardinal
    stem = _ORDINAL_END.sub("", word)
    if stem == word:
        return None
    for end, value in _DE_ORDINALS.items():
        if stem + "t" == end or stem == end:
            return float(value)
    return _german_cardinal(stem)


def _german_cardinal(word: str) -> float | None:
    if word in _DE:
        return float(_DE[word])
    match = _HUNDREDS.fullmatch(word)
    if match is None or (match[1] is None and match[2] is None):
        return _below_hundred(word)
    thousands, hundreds, rest = match.groups()
    total = 0.0
    for part, factor in ((thousands, 1000.0), (hundreds, 100.0), (rest, 1.0)):
        if part is None or (factor == 1.0 and not part):
            continue
        value = 1.0 if part in ("", "ein") else _below_hundred(part)
        if value is None and factor == 1000.0:  # noqa: PLR2004 - "zweihunderttausend"
            value = _german_cardinal(part)
        if value is None:
            return None
        total += value * factor
    return total


def _below_hundred(word: str) -> float | None:
    if word in _DE:
        return float(_DE[word])
    ones, und, tens = word.partition("und")
    if not und or tens not in _DE:
        return None
    small = 1 if ones == "ein" else _DE.get(ones)
    return None if small is None else float(small + _DE[tens])
