"""An answer taken apart: codes, then dates, then times; what is left holds the quantities."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Final

from proxy.gates.evidence.blanks import blanked
from proxy.gates.evidence.codes import Code, codes
from proxy.gates.evidence.dates import ClockTime, Date, Weekday, clock_times, dates, weekdays
from proxy.gates.evidence.findings import Span
from proxy.gates.evidence.measures import joined_measures
from proxy.gates.evidence.quantities import quantities
from proxy.gates.evidence.quantity import Quantity
from proxy.gates.evidence.tongues import WORD

_AROUND: Final = 300


class AnswerText:
    """`text` is the answer without its marks; its parts are looked for when first asked for."""

    def __init__(
        self, text: str, sentences: Sequence[Span], list_lengths: Collection[int] = ()
    ) -> None:
        """`list_lengths`: of the lists of the answer, whose marks `text` does not have any more."""
        self.text = text
        self.list_lengths = list_lengths
        self.sentences = sentences
        self._starts = [span.start for span in sentences]

    @cached_property
    def codes(self) -> list[Code]:
        return list(codes(self.text))

    @cached_property
    def dates(self) -> list[Date]:
        return dates(self._without_codes, set(WORD.findall(self._without_codes)))

    @cached_property
    def clock_times(self) -> list[ClockTime]:
        return list(clock_times(self._without_dates))

    @cached_property
    def weekdays(self) -> list[Weekday]:
        return list(weekdays(self._without_codes))

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Measures of two parts ("2 hours 9 minutes") take the place of their parts."""
        found = quantities(self.plain, set(WORD.findall(self.plain)))
        joined = dict(joined_measures(self.plain, found))
        kept = [one for place, one in enumerate(found) if not {place, place - 1} & joined.keys()]
        return [*kept, *joined.values()]

    @cached_property
    def plain(self) -> str:
        """The text with blanks for codes, dates and times."""
        return blanked(self._without_dates, self.clock_times)

    @cached_property
    def _without_codes(self) -> str:
        return blanked(self.text, self.codes)

    @cached_property
    def _without_dates(self) -> str:
        return blanked(self._without_codes, self.dates)

    def around(self, at: int) -> str:
        """The sentence at a place; of a very long one, what is near."""
        number = bisect_right(self._starts, at) - 1
        if number < 0:
            return ""
        sentence = self.sentences[number]
        return self.text[max(sentence.start, at - _AROUND) : min(sentence.end, at + _AROUND)]
