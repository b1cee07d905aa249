"""What the tour reads of an answer, a stream event or an error body; everything else is ignored."""

from dataclasses import dataclass

import msgspec
from typing_extensions import override


class UnreadableAnswer(ValueError):
    """The bytes are not what a chat completion, its events or its errors look like."""


@dataclass(frozen=True, slots=True)
class Function:
    name: str | None = None
    arguments: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    function: Function = Function()

    @override
    def __str__(self) -> str:
        return f"{self.function.name}({self.function.arguments})"


@dataclass(frozen=True, slots=True)
class Message:
    """A message, or the delta of one."""

    content: str | None = None
    tool_calls: tuple[ToolCall, ...] | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    message: Message = Message()
    delta: Message = Message()
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    message: str = ""
    code: str | int | None = None

    @override
    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


@dataclass(frozen=True, slots=True)
class Answer:
    """One chat completion, one chunk of it, or an error."""

    choices: tuple[Choice, ...] = ()
    error: Failure | None = None

    @property
    def first(self) -> Choice:
        return self.choices[0] if self.choices else Choice()


def read_answer(body: bytes) -> Answer:
    """Read a JSON body or the data of one event. Raises `UnreadableAnswer`."""
    try:
        return msgspec.json.decode(body, type=Answer)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        start = body[:80].decode(errors="replace")
        raise UnreadableAnswer(f"not an answer of this API ({error}): {start!r}") from error
