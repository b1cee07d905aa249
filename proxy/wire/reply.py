"""A reply as a value, read from a JSON body or assembled from stream events.

Lenient about all that no gate needs: an unknown or ill-typed member reads as an absent one.
"""

import json
from dataclasses import dataclass, field
from typing import Any, Never

import msgspec

from proxy.wire.call_parts import CallAssembly, CallParts, call_texts
from proxy.wire.depth import is_deeper
from proxy.wire.lenient import index_of, indexes_of, is_whole, text_of

_MAX_DEPTH = 256  # far from the stack's end, so that whatever was read can be written again


class MalformedReply(ValueError):
    """Not a JSON object, nested too deeply, or its `choices` are not a list of objects."""


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


@dataclass(frozen=True, slots=True)
class Delta:
    """What one stream event brought.

    `has_token` means content, reasoning, a refusal or tool-call material that is not empty.
    `contents` pairs a choice index with its piece of content. `token_ids` counts the ids listed
    over all choices, 0 when the upstream lists none.
    """

    has_choices: bool
    has_token: bool
    contents: tuple[tuple[int, str], ...]
    token_ids: int
    error: str | None
    finished: bool


def read_reply(body: bytes) -> Reply:
    """Read a chat completion that was not streamed. Raises `MalformedReply`."""
    document = _read_object(body)
    choices = _choices_of(document)
    read = tuple(map(_read_choice, choices, indexes_of(choices)))
    return Reply(read, _usage_of(document), _error_of(document))


class ReplyBuilder:
    """Assembles a reply from its stream events, in time linear in their bytes."""

    def __init__(self) -> None:
        self._choices: dict[int, _ChoiceParts] = {}
        self._usage: Usage | None = None
        self._error: str | None = None

    def add(self, data: bytes) -> Delta:
        """Take the data of one event, `[DONE]` excepted. Raises `MalformedReply`."""
        document = _read_object(data)
        choices = _choices_of(document)
        contents: list[tuple[int, str]] = []
        has_token = finished = False
        token_ids = 0
        for position, choice in enumerate(choices):
            index = index_of(choice, position)
            parts = self._choices.get(index)
            if parts is None:
                parts = self._choices[index] = _ChoiceParts(index)
            content, has_more = parts.add(choice)
            if content:
                contents.append((index, content))
            has_token = has_token or has_more or bool(content)
            finished = finished or bool(choice.get("finish_reason"))
            if isinstance(listed := choice.get("token_ids"), list):
                token_ids += len(listed)
        error = _error_of(document)
        self._error = self._error or error
        self._usage = _usage_of(document) or self._usage
        return Delta(bool(choices), has_token, tuple(contents), token_ids, error, finished)

    def count_calls(self, choice: int) -> int:
        """How many tool calls of a choice have begun."""
        parts = self._choices.get(choice)
        return 0 if parts is None else len(parts.calls)

    def call_at(self, choice: int, position: int) -> ToolCall:
        """One of the calls that have begun, as far as it has come."""
        return _tool_call(self._choices[choice].calls.calls[position])

    def reply(self) -> Reply:
        """The reply as assembled so far, its choices in the order of their indexes."""
        choices = tuple(self._choices[index].choice() for index in sorted(self._choices))
        return Reply(choices, self._usage, self._error)


@dataclass(slots=True)
class _ChoiceParts:
    index: int
    content: list[str] | None = None
    reasoning: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: CallAssembly = field(default_factory=CallAssembly)
    finish_reason: str | None = None

    def add(self, choice: dict[str, Any]) -> tuple[str, bool]:
        """Take one delta; return its content, and whether it brought any other token."""
        self.finish_reason = text_of(choice.get("finish_reason")) or self.finish_reason
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return "", False
        content = text_of(delta.get("content"))
        if content is not None:
            if self.content is None:
                self.content = []
            self.content.append(content)
        reasoning = _reasoning_of(delta)
        refusal = text_of(delta.get("refusal")) or ""
        self.reasoning.append(reasoning)
        self.refusal.append(refusal)
        calls = _calls_of(delta)
        for call in calls:
            self.calls.add(call)
        return content or "", bool(reasoning or refusal or calls)

    def choice(self) -> Choice:
        return Choice(
            index=self.index,
            content=None if self.content is None else "".join(self.content),
            reasoning="".join(self.reasoning),
            refusal="".join(self.refusal),
            tool_calls=tuple(map(_tool_call, self.calls.calls)),
            finish_reason=self.finish_reason,
        )


def _tool_call(parts: CallParts) -> ToolCall:
    return ToolCall(parts.index, parts.id, parts.name, "".join(parts.arguments))


def _read_choice(choice: dict[str, Any], index: int) -> Choice:
    message = choice.get("message")
    if not isinstance(message, dict):
        message = {}
    return Choice(
        index=index,
        content=text_of(message.get("content")),
        reasoning=_reasoning_of(message),
        refusal=text_of(message.get("refusal")) or "",
        tool_calls=tuple(
            ToolCall(index_of(call, place), *call_texts(call))
            for place, call in enumerate(_calls_of(message))
        ),
        finish_reason=text_of(choice.get("finish_reason")) or None,
    )


def _read_object(body: bytes) -> dict[str, Any]:
    try:
        document = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        document = _read_slowly(body)
    if not isinstance(document, dict):
        raise MalformedReply("not a JSON object")
    if body.count(b"[") + body.count(b"{") > _MAX_DEPTH and is_deeper(document, _MAX_DEPTH):
        raise MalformedReply("nested too deeply")
    return document


def _read_slowly(body: bytes) -> object:
    """Read what the fast reader refuses though it is JSON: lone surrogates, `1e400`."""
    try:
        return json.loads(body.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedReply(f"not JSON: {error}") from error


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not a JSON value")


def _choices_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    choices = document.get("choices")
    if choices is None:
        return []
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise MalformedReply("`choices` is not a list of objects")
    return choices


def _usage_of(document: dict[str, Any]) -> Usage | None:
    usage = document.get("usage")
    if not isinstance(usage, dict):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not (is_whole(prompt) or is_whole(completion)):
        return None
    return Usage(prompt if is_whole(prompt) else 0, completion if is_whole(completion) else 0)


def _error_of(document: dict[str, Any]) -> str | None:
    error = document.get("error")
    return json.dumps(error, ensure_ascii=False) if error else None


def _calls_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _reasoning_of(message: dict[str, Any]) -> str:
    return text_of(message.get("reasoning")) or text_of(message.get("reasoning_content")) or ""
