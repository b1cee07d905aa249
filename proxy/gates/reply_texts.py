"""The texts of a choice that a reader gets: its content, or the string values of a JSON answer."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from proxy.wire.reply import Choice


@dataclass(frozen=True, slots=True)
class ReplyText:
    """One text; `place` is the content's, for a JSON answer with the value's JSON pointer."""

    place: str
    text: str


def texts_of_choice(choice: Choice) -> list[ReplyText]:
    """The string values of content that is a JSON object or list, else the content itself."""
    place = f"choices[{choice.index}].message.content"
    content = choice.content or ""
    if content.lstrip().startswith(("{", "[")):
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            pass
        else:
            return [ReplyText(f"{place}#{at}", text) for at, text in string_values(document)]
    return [ReplyText(place, content)]


def string_values(document: Any) -> Iterator[tuple[str, str]]:
    """Every string that is a value, not a key, with its JSON pointer, in the document's order."""
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        pointer, value = waiting.pop()
        if isinstance(value, str):
            yield pointer, value
        elif isinstance(value, dict):
            items = [(f"{pointer}/{_escaped(key)}", item) for key, item in value.items()]
            waiting.extend(reversed(items))
        elif isinstance(value, list):
            places = [(f"{pointer}/{place}", item) for place, item in enumerate(value)]
            waiting.extend(reversed(places))


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
