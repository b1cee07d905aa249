"""Cuts a running text as soon as it is certainly longer than allowed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from typing_extensions import override

from proxy.gates.base import Verdict, Watch
from proxy.gates.length_findings import overrun, verdict_on
from proxy.gates.length_options import LengthOptions, LengthTarget, Markup
from proxy.gates.text_floor import Floor, floor_for
from proxy.gates.text_html import HtmlText
from proxy.gates.text_markdown_floor import MarkdownFloor
from proxy.gates.text_targets import WHOLE
from proxy.gates.text_units import TextMeter


class SeenReader(Protocol):
    """Takes mark-up off a running text."""

    def feed(self, piece: str) -> str:
        """The text that a reader will certainly see."""
        ...


@dataclass(frozen=True, slots=True)
class WatchedLimit:
    """A target with its maximum, and how its floor begins."""

    target: LengthTarget
    most: int
    new_floor: Callable[[], Floor]


def watched_limits(options: LengthOptions, meter: TextMeter) -> tuple[WatchedLimit, ...]:
    """The maxima of the whole text that a running one can be held against."""
    joins = options.strip != "none"
    return tuple(
        WatchedLimit(target, target.max, new_floor)
        for target in options.targets
        if target.of == WHOLE
        and target.max is not None
        and (new_floor := floor_for(target.unit, meter, joins_blanks=joins)) is not None
    )


class LengthWatch(Watch):
    """The eyes on all choices of one stream."""

    def __init__(self, limits: Sequence[WatchedLimit], markup: Markup) -> None:
        self._limits = limits
        self._markup: Markup = markup
        self._shortest = min(limit.most for limit in limits)
        self._eyes: dict[int, _Eye] = {}

    @override
    def feed(self, choice: int, content: str) -> Verdict | None:
        eye = self._eyes.get(choice)
        if eye is None:
            floors = [limit.new_floor() for limit in self._limits]
            eye = self._eyes[choice] = _Eye(floors, _reader(self._markup))
        eye.kept.append(content)
        eye.characters += len(content)
        # No unit is smaller than a character: up to here nothing need be counted.
        if eye.characters <= self._shortest:
            return None
        text = "".join(eye.kept)
        eye.kept.clear()
        seen = eye.reader.feed(text) if eye.reader else text
        for limit, floor in zip(self._limits, eye.floors, strict=True):
            if floor.feed(seen) > limit.most:
                place = f"choices[{choice}].message.content"
                return verdict_on([overrun(limit.target, place)])
        return None


@dataclass(slots=True)
class _Eye:
    """What was seen of one choice. `kept`: pieces that were not looked at yet."""

    floors: list[Floor]
    reader: SeenReader | None
    kept: list[str] = field(default_factory=list)
    characters: int = 0


def _reader(markup: Markup) -> SeenReader | None:
    if markup == "markdown":
        return MarkdownFloor()
    return HtmlText() if markup == "html" else None
