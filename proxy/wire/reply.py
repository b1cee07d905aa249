"""A reply as a value, read from a JSON body or assembled from stream events."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call of a choice; `arguments` is the text as sent."""

    index: int
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice. `content` is None when the reply had none (null or no delta)."""

    index: int
    content: str | None
    reasoning: str = ""
    refusal: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the upstream states them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply. `error` is the JSON text of an error object found inside a 200."""

    choices: tuple[Choice, ...] = ()
    usage: Usage | None = None
    error: str | None = None
