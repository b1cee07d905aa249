"""The texts of a request's messages, for gates that hold a reply against what was asked."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import msgspec

from proxy.wire.request import Request

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
_SAME_ROLE: Final = {"function": "tool"}


@dataclass(frozen=True, slots=True)
class MessageText:
    """The text of one message; its parts are joined by line ends, as vLLM joins them."""

    place: str
    role: str
    text: str


def texts_of(request: Request) -> Iterator[MessageText]:
    """The messages that have a text, in their order; none where nobody could read them."""
    for position, message in enumerate(_list(_document(request.messages))):
        if isinstance(message, dict):
            role = message.get("role")
            text = _text_of(message.get("content"))
            if isinstance(role, str) and text is not None:
                place = f"messages[{position}].content"
                yield MessageText(place, _SAME_ROLE.get(role, role), text)


def _text_of(content: Any) -> str | None:
    if isinstance(content, str):
        return content
    parts = (part.get("text") if isinstance(part, dict) else part for part in _list(content))
    texts = [text for text in parts if isinstance(text, str)]
    return "\n".join(texts) if texts else None


def _document(messages: bytes) -> Any:
    try:
        return msgspec.json.decode(messages)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(messages)  # lone surrogates, which the fast reader refuses
    except (ValueError, RecursionError):
        return None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
