"""How long a running text is at least, whatever follows. Each piece costs what its length does.

The end of a text may still change what it is: marks join the last letter, blanks are trimmed. So
floors lag behind the true counts by a few characters, and never run ahead of them.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from typing_extensions import override

from proxy.gates.text_units import INVISIBLE, TextMeter, Unit, is_blank

# One cluster or run of blanks beyond this is no text to be judged on the way.
_LONGEST_HELD: Final = 1024
_HALF_PAIRS: Final = re.compile("[\ud800-\udfff\r]")
_BLANKS: Final = re.compile(r"\s+")
_HAS_WORD: Final = re.compile(r"[^\W_]")


class Floor(Protocol):
    """The state of one text."""

    def feed(self, text: str) -> int:
        """Take the next piece; return how many units there are at least."""
        ...


def floor_for(unit: Unit, meter: TextMeter, *, joins_blanks: bool) -> Callable[[], Floor] | None:
    """What makes a new floor; None for units of which more text may make fewer.

    A quotation that is closed may make one sentence of many. Lines and paragraphs of mark-up are
    known at its end only. `joins_blanks`: where mark-up is stripped, blanks may be seen as one.
    """
    if unit in (Unit.GRAPHEMES, Unit.CHARACTERS):
        return partial(GraphemeFloor, meter, joins_blanks=joins_blanks)
    if unit is Unit.WORDS:
        return WordFloor
    if unit in (Unit.LINES, Unit.PARAGRAPHS) and not joins_blanks:
        return partial(LineFloor, paragraphs=unit is Unit.PARAGRAPHS)
    return None


class GraphemeFloor(Floor):
    """Clusters but those of blanks at the end. There are at least as many characters."""

    def __init__(self, meter: TextMeter, *, joins_blanks: bool) -> None:
        self._meter = meter
        self._joins_blanks = joins_blanks
        self._count = 0
        self._held = ""
        self._is_over = False

    @override
    def feed(self, text: str) -> int:
        if self._is_over:
            return self._count
        text = self._held + INVISIBLE.sub("", _HALF_PAIRS.sub("", text))
        if self._joins_blanks:
            text = _BLANKS.sub(" ", text)
        body = text.rstrip()
        blanks = text[len(body) :]
        body = body if self._count or self._held.strip() else body.lstrip()
        last = ""
        if body:
            clusters = body if body.isascii() else self._meter.clusters(body)
            self._count += len(clusters) - 1
            last = clusters[-1]
        self._held = last + blanks
        if len(self._held) > _LONGEST_HELD:
            self._is_over = True
            self._count += bool(last)
            return self._count
        return self._count + bool(last)


class WordFloor(Floor):
    """Runs between blanks that hold a letter or digit; each has one word or more."""

    def __init__(self) -> None:
        self._count = 0
        self._is_inside = False
        self._is_word = False

    @override
    def feed(self, text: str) -> int:
        for run in _RUNS.findall(text):
            if run.isspace():
                self._is_word = False
            elif not self._is_word and _HAS_WORD.search(run):
                self._is_word = True
                self._count += 1
        return self._count


_RUNS: Final = re.compile(r"\s+|\S+")


class LineFloor(Floor):
    """Lines with something to see, or the paragraphs that blank lines part."""

    def __init__(self, *, paragraphs: bool) -> None:
        self._paragraphs = paragraphs
        self._count = 0
        self._has_text = False
        self._goes_on = False

    @override
    def feed(self, text: str) -> int:
        first, *lines = text.split("\n")
        self._take(first)
        for line in lines:
            self._goes_on = self._paragraphs and self._has_text
            self._has_text = False
            self._take(line)
        return self._count

    def _take(self, part: str) -> None:
        has_text = bool(part.strip()) if self._paragraphs else not is_blank(part)
        if has_text and not self._has_text:
            self._has_text = True
            self._count += not self._goes_on
