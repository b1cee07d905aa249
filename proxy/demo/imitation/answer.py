"""An answer before it is sent: reasoning, then a text or calls, as the tokens of each."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from proxy.demo.imitation.tokens import pieces_of

# A template's own tokens around a call, which no client sees.
_CALL_OVERHEAD: Final = 1


class Part(StrEnum):
    """Where a token belongs."""

    REASONING = "reasoning"
    CONTENT = "content"
    CALL = "call"


@dataclass(frozen=True, slots=True)
class CallMade:
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Token:
    """One token of an answer; those of a call carry its index."""

    part: Part
    text: str
    call: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What is to be said. `content` None: nothing beside calls."""

    content: str | None
    reasoning: str = ""
    calls: tuple[CallMade, ...] = ()
    finish_reason: str = "stop"

    def tokens(self) -> Iterator[Token]:
        """Its tokens in the order of a stream; one at least."""
        found = itertools.chain(
            (Token(Part.REASONING, piece) for piece in pieces_of(self.reasoning)),
            (Token(Part.CONTENT, piece) for piece in pieces_of(self.content or "")),
            *(_of_call(index, call) for index, call in enumerate(self.calls)),
        )
        first = next(found, Token(Part.CONTENT, ""))
        return itertools.chain([first], found)

    def limited(self, most_tokens: int | None) -> "Answer":
        """The answer cut as `max_tokens` cuts it."""
        tokens = list(self.tokens())
        if most_tokens is None or len(tokens) <= most_tokens:
            return self
        kept = tokens[:most_tokens]
        content = _joined(kept, Part.CONTENT)
        calls = tuple(
            replace(call, arguments=_joined(kept, Part.CALL, index))
            for index, call in enumerate(self.calls)
            if any(token.part is Part.CALL and token.call == index for token in kept)
        )
        return replace(
            self,
            reasoning=_joined(kept, Part.REASONING),
            content=content or (None if self.content is None or calls else ""),
            calls=calls,
            finish_reason="length",
        )


def _of_call(index: int, call: CallMade) -> Iterator[Token]:
    """The first token names the tool and carries none of its arguments."""
    for _ in range(_CALL_OVERHEAD):
        yield Token(Part.CALL, "", index)
    for piece in pieces_of(call.arguments):
        yield Token(Part.CALL, piece, index)


def _joined(tokens: list[Token], part: Part, call: int = 0) -> str:
    return "".join(token.text for token in tokens if token.part is part and token.call == call)
