"""The requests of the load: which kinds there are, how often each comes, and what it sends."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from proxy.demo.load.sources import KURZTEXT, LOCK, SCHLEUSE, STATUS, TEASER, VALVE

_TOO_LARGE: Final = 600_000
_CHAT: Final = "/chat/completions"


class Kind(StrEnum):
    """What a request is for."""

    TEXT = "text"
    STREAM = "stream"
    LONG_STREAM = "long stream"
    STRICT_JSON = "strict JSON"
    STRICT_STREAM = "strict JSON, streamed"
    TEASER = "teaser from a source"
    KURZTEXT = "editorial-de"
    LONG_TEASER = "teaser longer than the policy allows"
    CALL = "tool call"
    CALL_STREAM = "tool call, streamed"
    COMPLETION = "completions"
    LEAVING = "client that leaves"
    BROKEN = "broken request"
    TOO_LARGE = "too large request"


_WEIGHTS: Final[Mapping[Kind, float]] = {
    Kind.TEXT: 3,
    Kind.STREAM: 5,
    Kind.LONG_STREAM: 1,
    Kind.STRICT_JSON: 3,
    Kind.STRICT_STREAM: 2,
    Kind.TEASER: 2,
    Kind.KURZTEXT: 1,
    Kind.LONG_TEASER: 0.3,
    Kind.CALL: 2,
    Kind.CALL_STREAM: 2,
    Kind.COMPLETION: 0.5,
    Kind.LEAVING: 0.5,
    Kind.BROKEN: 0.2,
    Kind.TOO_LARGE: 0.1,
}
_STREAMED: Final[Mapping[str, Any]] = {"stream": True}
_MEMBERS: Final[Mapping[Kind, Mapping[str, Any]]] = {
    Kind.STREAM: _STREAMED,
    Kind.LONG_STREAM: _STREAMED,
    Kind.STRICT_JSON: {"response_format": STATUS},
    Kind.STRICT_STREAM: {"response_format": STATUS, **_STREAMED},
    Kind.TEASER: {"response_format": TEASER},
    Kind.KURZTEXT: {"response_format": KURZTEXT},
    Kind.LONG_TEASER: {"response_format": TEASER},
    Kind.CALL: {"tools": [VALVE], "tool_choice": "required"},
    Kind.CALL_STREAM: {"tools": [VALVE], **_STREAMED},
    Kind.LEAVING: _STREAMED,
    Kind.TOO_LARGE: _STREAMED,
}
_QUESTIONS: Final[Mapping[Kind, str]] = {
    Kind.TEXT: "Write a text of {words} words about the lock.",
    Kind.STREAM: "Write a text of {words} words about the gates.",
    Kind.LONG_STREAM: "Write a text of {long_words} words about the canal.",
    Kind.STRICT_JSON: "What is the status of the lock? Answer as JSON.",
    Kind.STRICT_STREAM: "What is the status of the upper lock? Answer as JSON.",
    Kind.TEASER: "Write JSON from the source: a title of 20 to 70 characters and a teaser of 120 "
    f"to 260 characters. <source>{LOCK}</source>",
    Kind.KURZTEXT: "Schreibe JSON nach der Quelle: einen titel von 30 bis 66 Zeichen, einen teaser "
    f"von 140 bis 260 Zeichen, einen kurztext von 70 bis 100 Wörtern. <quelle>{SCHLEUSE}</quelle>",
    # The policy has 280 at most: no attempt keeps both, and the last one is flagged.
    Kind.LONG_TEASER: "Write JSON from the source: a title of 20 to 70 characters and a teaser of "
    f"320 to 420 characters. <source>{LOCK}</source>",
    Kind.CALL: "Turn a valve of the chamber.",
    Kind.CALL_STREAM: "Turn another valve of the chamber.",
    Kind.COMPLETION: "A text of 40 words about locks:",
    Kind.LEAVING: "Write a text of {long_words} words that nobody waits for.",
    Kind.TOO_LARGE: "x" * _TOO_LARGE,
}


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, ready to be sent to `base_url` + path. `leaves`: after the first event."""

    kind: Kind
    path: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    leaves: bool = False


@dataclass(slots=True)
class Asks:
    """Requests in an order that the seed of `chance` fixes. No two ask the same question."""

    model: str
    chance: random.Random
    number: int = 0

    def draw(self) -> Ask:
        """The next request of the steady mix."""
        kinds = list(_WEIGHTS)
        return self.ask(self.chance.choices(kinds, [_WEIGHTS[kind] for kind in kinds])[0])

    def ask(self, kind: Kind) -> Ask:
        self.number += 1
        if kind is Kind.BROKEN:
            return Ask(kind, _CHAT, b'{"messages": [')
        headers = {"x-sluicegate-policy": "editorial-de"} if kind is Kind.KURZTEXT else {}
        path = "/completions" if kind is Kind.COMPLETION else _CHAT
        body = json.dumps(self._document(kind)).encode()
        return Ask(kind, path, body, headers, leaves=kind is Kind.LEAVING)

    def _document(self, kind: Kind) -> dict[str, Any]:
        words = self.chance.randint(20, 120)
        question = _QUESTIONS[kind].format(words=words, long_words=4 * words + 100)
        text = f"{question} (Entry {self.number}.)"
        if kind is Kind.COMPLETION:
            return {"model": self.model, "prompt": text, "max_tokens": 80}
        document: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": text}],
            **_MEMBERS.get(kind, {}),
        }
        if self.chance.random() < 0.75:  # noqa: PLR2004 - the share that does not want reasoning
            document["chat_template_kwargs"] = {"enable_thinking": False}
        return document
