"""What a client makes of the bytes it got; reads on its own, so that it can judge our reading."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_DONE: Final = "[DONE]"


@dataclass(slots=True)
class Told:
    """A reply as its client understands it; texts by the index of their choice."""

    content: dict[int, str] = field(default_factory=dict)
    reasoning: dict[int, str] = field(default_factory=dict)
    calls: dict[tuple[int, int], dict[str, str]] = field(default_factory=dict)
    finish_reasons: list[str] = field(default_factory=list)
    id: str | None = None
    done: bool = False
    usage_chunk: bool = False
    errors: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """Names and arguments, read as JSON where they are."""
        return [
            {"name": call["name"], "arguments": _read_json(call["arguments"])}
            for _, call in sorted(self.calls.items())
        ]

    def take(self, document: Any) -> None:
        """Take a whole reply or a chunk of one."""
        if not isinstance(document, dict):
            return
        if isinstance(document.get("error"), dict):
            self.errors.append(document["error"])
        self.id = document.get("id", self.id)
        choices = document.get("choices") or []
        self.usage_chunk = self.usage_chunk or (not choices and bool(document.get("usage")))
        for choice in choices:
            self._take_choice(choice)

    def _take_choice(self, choice: Mapping[str, Any]) -> None:
        index = choice.get("index", 0)
        part = choice.get("delta") or choice.get("message") or {}
        _append(self.content, index, part.get("content"))
        _append(self.reasoning, index, part.get("reasoning") or part.get("reasoning_content"))
        for position, call in enumerate(part.get("tool_calls") or []):
            at = (index, call.get("index", position))
            known = self.calls.setdefault(at, {"name": "", "arguments": ""})
            function = call.get("function") or {}
            known["name"] += function.get("name") or ""
            known["arguments"] += function.get("arguments") or ""
        if choice.get("finish_reason"):
            self.finish_reasons.append(choice["finish_reason"])


def read_told(body: bytes, content_type: str) -> Told:
    """Read a reply; of a stream all events, of anything else one document."""
    told = Told()
    if not content_type.startswith("text/event-stream"):
        told.take(_read_json(body.decode("utf-8", "replace")))
        return told
    for data in event_data(body):
        if data == _DONE:
            told.done = True
        else:
            told.take(_read_json(data))
    return told


def event_data(body: bytes) -> Iterator[str]:
    """The data of each event that a blank line ended; those without data are passed over."""
    lines: list[str] = []
    for line in _LINE_END.split(body.decode("utf-8", "replace"))[:-1]:
        name, _, value = line.partition(":")
        if not line and lines:
            yield "\n".join(lines)
            lines = []
        elif name == "data":
            lines.append(value.removeprefix(" "))


def is_strict_json(text: str) -> tuple[bool, Any]:
    """Whether a text is one JSON document by RFC 8259, without doubled keys; and its value."""
    try:
        value = json.loads(text, object_pairs_hook=_single_keys, parse_constant=_refuse)
        text.encode()
        json.dumps(value, ensure_ascii=False).encode()
    except ValueError:
        return False, None
    return True, value


def _single_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _append(texts: dict[int, str], index: int, piece: Any) -> None:
    if isinstance(piece, str):
        texts[index] = texts.get(index, "") + piece
