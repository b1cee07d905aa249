"""Quantities in a text: every numeral and number word with its scale and unit."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from proxy.gates.evidence.measures import with_neighbours
from proxy.gates.evidence.number_phrases import number_phrases
from proxy.gates.evidence.numerals import NUMERAL, readings, step_of
from proxy.gates.evidence.quantity import Quantity, with_tail
from proxy.gates.evidence.units import CURRENCY, MINUTE, unit_named, unit_of_key

MOST_FIGURES: Final = 100_000
_KEY_BACK: Final = 64


_FIGURES: Final = re.compile(rf"(?P<figures>{NUMERAL})(?P<fraction>[½¼¾⅓⅔⅛])?")
_FRACTION_ALONE: Final = re.compile(r"(?<!\w)[½¼¾⅓⅔⅛]")
_CURRENCY: Final = re.compile(rf"(?<![^\W_]){CURRENCY}[ ]?\Z")
_DURATION: Final = re.compile(
    r"(?<![\w.,:])(\d{1,3}):([0-5]\d) ?(?:Stunden|Std\.?|hours|hrs|h)(?![^\W\d_])"
)
_QUARTER: Final = re.compile(r"Q(?<!\wQ)([1-4])(?![\w.])")
_VULGAR: Final = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3, "⅛": 0.125}
_ARTICLE_SCALE: Final = re.compile(
    r"\b(?:ein|eine|einer|einem|eines|a|one|per) (?=(?:Million|million|Milliarde|billion|hundred"
    r"|thousand|Hundert|Tausend|dozen|Dutzend|trillion)\b)"
)
_MINUS: Final = re.compile(r"(?:(?:^|(?<![\w)\]])(?<!\d ))-|\b[Mm]inus )\Z")
_KEY: Final = re.compile(r'"([^"\n]{1,50})"\s*:\s*"?-?\Z')


def quantities(text: str, words: Collection[str]) -> list[Quantity]:
    """The quantities in their order. `words`: the distinct words of the text.

    Of figures only the first `MOST_FIGURES` are read.
    """
    has_keys = '":' in text
    figures = islice(_FIGURES.finditer(text), MOST_FIGURES)
    found = [_from_figures(text, match, has_keys=has_keys) for match in figures]
    found += _from_fractions(text)
    found += _from_words(text, words)
    found += _quarters(text)
    found = _with_durations(text, found)
    found.sort(key=lambda one: one.start)
    return list(with_neighbours(text, found))


def _from_figures(text: str, match: re.Match[str], *, has_keys: bool) -> Quantity:
    figures, start = match["figures"], match.start()
    more = _VULGAR[match["fraction"]] if match["fraction"] else 0.0
    values = sorted((value + more, step_of(figures, value)) for value in readings(figures))
    before = text[max(0, start - _KEY_BACK) : start]
    currency = _CURRENCY.search(before)
    unit = unit_named(currency[0].strip()) if currency else None
    quantity = with_tail(text, Quantity(start, match.end(), tuple(values), unit))
    if currency is not None:
        return replace(quantity, start=start - len(currency[0]))
    if before.endswith(("-", "inus ")) and _MINUS.search(before):
        quantity = replace(quantity, is_negative=True)
    if has_keys and quantity.unit is None and (key := _KEY.search(before)):
        quantity = replace(quantity, unit=unit_of_key(key[1]))
    return quantity


def _from_fractions(text: str) -> Iterator[Quantity]:
    if not any(sign in text for sign in _VULGAR):
        return
    for match in _FRACTION_ALONE.finditer(text):
        values = ((_VULGAR[match[0]], 0.01),)
        yield with_tail(text, Quantity(*match.span(), values))


def _with_durations(text: str, found: list[Quantity]) -> list[Quantity]:
    """With each "1:25 hours" in the place of its figures."""
    durations = [
        Quantity(*match.span(), ((int(match[1]) * 60.0 + int(match[2]), 1.0),), MINUTE)
        for match in (_DURATION.finditer(text) if ":" in text else ())
    ]
    if not durations:
        return found
    ends = {one.end for one in durations} | {one.start for one in durations}
    return [one for one in found if one.end not in ends and one.start not in ends] + durations


def _quarters(text: str) -> Iterator[Quantity]:
    """Quarters of a year, such as Q3."""
    for match in _QUARTER.finditer(text):
        values = ((float(match[1]), 1.0),)
        yield Quantity(*match.span(), values, unit_named("quartal"), is_ordinal=True)


def _from_words(text: str, words: Collection[str]) -> Iterator[Quantity]:
    for phrase in number_phrases(text, words):
        values = tuple((value, phrase.step) for value in phrase.values)
        quantity = Quantity(
            phrase.start,
            phrase.end,
            values,
            is_word=True,
            is_share=phrase.is_share,
            is_ordinal=phrase.is_ordinal,
        )
        if _MINUS.search(text[max(0, phrase.start - len(" minus ")) : phrase.start]):
            quantity = replace(quantity, is_negative=True)
        if phrase.unit:
            yield replace(quantity, unit=unit_named(phrase.unit))
        else:
            yield quantity if phrase.is_share else with_tail(text, quantity)
    for match in _ARTICLE_SCALE.finditer(text):
        start, end = match.span()
        yield with_tail(text, Quantity(start, end - 1, ((1.0, 1.0),), is_word=True))
