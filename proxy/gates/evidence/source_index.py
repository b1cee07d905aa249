"""A source made ready for questions: which values, dates, words and sentences it has."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from proxy.gates.evidence.blanks import blanked
from proxy.gates.evidence.dates import ClockTime, Date, Weekday, clock_times, dates, weekdays
from proxy.gates.evidence.enumerations import list_lengths
from proxy.gates.evidence.findings import Span
from proxy.gates.evidence.measures import joined_measures
from proxy.gates.evidence.plain_text import PlainText, plain_text
from proxy.gates.evidence.quantities import MOST_FIGURES, quantities
from proxy.gates.evidence.quantity import Quantity
from proxy.gates.evidence.sentences import sentences
from proxy.gates.evidence.tongues import WORD, language_of
from proxy.gates.evidence.vocabulary import Vocabulary

COUNTED_LETTERS: Final = 5
_SEPARATORS: Final = re.compile(r"[\W_]+")
FIGURES: Final = "figures"
_MOST_COMPARED: Final = 256


def value_key(value: float) -> str:
    """Equal for values that differ by nothing but arithmetic."""
    return f"{value:.9g}"


class SourceIndex:
    """Everything is read when it is first asked for, once, in time linear in the text."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.plain: PlainText = plain_text(source)
        self.text = self.plain.text

    @cached_property
    def language(self) -> str:
        return language_of(self.text)

    @cached_property
    def lower(self) -> str:
        """In small letters, each sign at its place."""
        lower = self.text.lower()
        if len(lower) == len(self.text):
            return lower
        return "".join(small if len(small := sign.lower()) == 1 else sign for sign in self.text)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary([self.text], self.language)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """In the order of their places."""
        found = quantities(self.text, self.vocabulary.words)
        found += [joined for _, joined in joined_measures(self.text, found)]
        return sorted(found, key=lambda one: one.start)

    @property
    def has_all_quantities(self) -> bool:
        """Whether the source has not too many figures or number words to be read."""
        return len(self.quantities) < MOST_FIGURES // 2

    @cached_property
    def quantity_starts(self) -> list[int]:
        return [quantity.start for quantity in self.quantities]

    @cached_property
    def by_value(self) -> dict[str, list[Quantity]]:
        found: dict[str, list[Quantity]] = defaultdict(list)
        for quantity in self.quantities:
            for value, _ in quantity.values:
                found[value_key(value)].append(quantity)
        return found

    @cached_property
    def by_measure(self) -> dict[str, list[tuple[float, int, Quantity]]]:
        """What is measured, in its base unit and in order; "" holds plain numbers.

        `FIGURES` holds all quantities as they are written. The middle number only keeps quantities
        from being compared.
        """
        found: dict[str, list[tuple[float, int, Quantity]]] = defaultdict(list)
        for number, quantity in enumerate(self.quantities):
            unit = quantity.unit
            for value, _ in quantity.values:
                signed = -value if quantity.is_negative else value
                base = unit.base(signed) if unit else value
                found[unit.kind if unit else ""].append((base, number, quantity))
                found[FIGURES].append((value, number, quantity))
        for measured in found.values():
            measured.sort()
        return found

    def measured(self, kind: str, low: float, high: float) -> Iterator[tuple[float, Quantity]]:
        """The quantities of a kind between two values in the base unit; a bounded number."""
        there = self.by_measure.get(kind, [])
        start = bisect_left(there, (low,))
        for base, _, quantity in there[start : start + _MOST_COMPARED]:
            if base > high:
                return
            yield base, quantity

    @cached_property
    def counted(self) -> dict[str, set[float]]:
        """By the beginning of a noun, the plain numbers that stand before it."""
        found: dict[str, set[float]] = defaultdict(set)
        for quantity in self.quantities:
            if quantity.noun and quantity.unit is None and not quantity.is_year:
                found[quantity.noun[:COUNTED_LETTERS].lower()].add(quantity.value)
        return found

    @cached_property
    def dates(self) -> list[Date]:
        return dates(self.text, self.vocabulary.words)

    @cached_property
    def years_by_day(self) -> dict[tuple[int | None, int | None], set[int | None]]:
        """The years of each (month, day), and of each (month, None); None: a date without one."""
        found: dict[tuple[int | None, int | None], set[int | None]] = defaultdict(set)
        for date in self.dates:
            for year, month, day in date.readings:
                found[month, day].add(year)
                found[month, None].add(year)
        return found

    @cached_property
    def squeezed(self) -> str:
        """The text in small letters, letters and digits only."""
        return _SEPARATORS.sub("", self.lower)

    @cached_property
    def list_lengths(self) -> set[int]:
        return list_lengths(self.text)

    @cached_property
    def clock_times(self) -> list[ClockTime]:
        return list(clock_times(blanked(self.text, self.dates)))

    @cached_property
    def weekdays(self) -> list[Weekday]:
        return list(weekdays(self.text))

    @cached_property
    def sentences(self) -> list[Span]:
        return sentences(self.text, self.language)

    @cached_property
    def sentence_stems(self) -> list[set[str]]:
        """The stems of each sentence, without the commonest words."""
        stem_of = self.vocabulary.content_stems
        found = []
        for span in self.sentences:
            words = {stem_of.get(word, "") for word in WORD.findall(span.of(self.text))}
            words.discard("")
            found.append(words)
        return found
