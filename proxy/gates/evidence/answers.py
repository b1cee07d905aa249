"""What of a reply is held against sources: its text, or the values of a JSON answer."""

import json
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from proxy.gates.evidence.findings import Finding, Span
from proxy.gates.reply_texts import texts_of_choice
from proxy.wire.reply import Choice


@dataclass(frozen=True, slots=True)
class JoinedTexts:
    """Several texts as one, each on lines of its own, so that they are gone through once."""

    text: str
    places: tuple[str, ...]
    starts: tuple[int, ...]

    def placed(self, finding: Finding) -> "PlacedFinding":
        """A finding in the text that it lies in."""
        span = finding.span
        number = max(0, bisect_right(self.starts, span.start) - 1)
        start = self.starts[number]
        own = Span(span.start - start, span.end - start)
        return PlacedFinding(self.places[number], own, span.of(self.text), finding)


@dataclass(frozen=True, slots=True)
class PlacedFinding:
    """A finding with the place of its text, where it stands there, and its words."""

    place: str
    span: Span
    text: str
    finding: Finding


def written_texts(choice: Choice) -> JoinedTexts:
    """The content, or the string values of a JSON answer."""
    return _joined([(each.place, each.text) for each in texts_of_choice(choice)])


def json_numbers(choice: Choice) -> JoinedTexts:
    """The numbers of a JSON answer, each beside its key, which may name a unit."""
    content = choice.content or ""
    if not content.lstrip().startswith(("{", "[")):
        return _joined([])
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return _joined([])
    place = f"choices[{choice.index}].message.content"
    numbers = _numbers(document)
    return _joined([(f"{place}#{at}", f'"{key}": {number}') for at, key, number in numbers])


def _joined(texts: list[tuple[str, str]]) -> JoinedTexts:
    starts = []
    length = 0
    for _, text in texts:
        starts.append(length)
        length += len(text) + 2
    text = "\n\n".join(text for _, text in texts)
    return JoinedTexts(text, tuple(place for place, _ in texts), tuple(starts))


def _numbers(document: Any) -> Iterator[tuple[str, str, str]]:
    """Each number with its JSON pointer and the nearest key above it."""
    waiting: list[tuple[str, str, Any]] = [("", "", document)]
    while waiting:
        pointer, key, value = waiting.pop()
        if isinstance(value, dict):
            items = [
                (f"{pointer}/{_escaped(name)}", str(name), item) for name, item in value.items()
            ]
            waiting.extend(reversed(items))
        elif isinstance(value, list):
            places = [(f"{pointer}/{place}", key, item) for place, item in enumerate(value)]
            waiting.extend(reversed(places))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield pointer, key.replace('"', "").replace("\n", " ")[:50], json.dumps(value)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
