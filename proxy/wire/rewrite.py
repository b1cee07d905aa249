"""Put repaired content and arguments into a reply as received, and leave all else as it was."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proxy.wire.lenient import index_of, indexes_of
from proxy.wire.rewrite_calls import CallRewriter, calls_with_arguments
from proxy.wire.splice import items_of, members_of, with_members
from proxy.wire.sse import Event, event

_REASONING = ("reasoning", "reasoning_content")
_TOKEN_EXTRAS = ("logprobs", "token_ids")  # they describe the tokens of the old content
_NULL = b"null"


@dataclass(frozen=True, slots=True)
class NewContent:
    """What is new in one choice after repair; a `content` of None stays as it was.

    `clear_reasoning` when the content was found in the reasoning. `arguments` by the position of
    a call among the choice's tool calls.
    """

    content: str | None
    clear_reasoning: bool = False
    arguments: Mapping[int, str] = field(default_factory=dict)


def body_with_content(body: bytes, contents: Mapping[int, NewContent]) -> bytes:
    """A chat completion body with new content by choice index.

    Raises `ValueError` for anything but a JSON object whose choices are objects.
    """
    before = _choices_of(body)
    indexes = indexes_of([json.loads(choice) for choice in before])
    after = [
        _edited_choice(choice, contents[index]) if index in contents else choice
        for index, choice in zip(indexes, before, strict=True)
    ]
    return _with_choices(body, before, after)


def events_with_content(events: Sequence[Event], contents: Mapping[int, NewContent]) -> list[bytes]:
    """The events of a recorded stream with new content by choice index.

    The first event that bears the old content bears all of the new one; events left with nothing
    are dropped. Where no event bears any, one is added before the choice's finish. In the same way
    the first piece of a call bears all of its new arguments. Expects events that a `ReplyBuilder`
    has taken.
    """
    chunks = [_chunk_of(item) for item in events]
    carriers: dict[int, tuple[int, int]] = {}
    added: dict[int, list[bytes]] = {}
    for index, new in contents.items():
        if new.content is None:
            continue
        carrier = _carrier(chunks, index, new)
        if carrier is not None:
            carriers[index] = carrier
        else:
            at = _place_to_add(chunks, index)
            added.setdefault(at, []).append(_added_event(chunks, at, index, new))
    calls = {index: CallRewriter(new.arguments) for index, new in contents.items()}
    rewritten: list[bytes] = []
    for at, chunk in enumerate(chunks):
        edits = {
            position: _Edit(contents[index], calls[index], carriers.get(index) == (at, position))
            for position, (index, _) in enumerate(chunk.choices)
            if index in contents
        }
        rewritten += [*added.get(at, []), *_rewritten(chunk, edits)]
    return rewritten + added.get(len(chunks), [])


@dataclass(frozen=True, slots=True)
class _Edit:
    """What to do to one choice in one event; `carries`: here all of the new content goes."""

    new: NewContent
    calls: CallRewriter
    carries: bool


@dataclass(frozen=True, slots=True)
class _Chunk:
    """An event and its choices with their indexes; `data` is empty when it is no JSON object."""

    event: Event
    data: bytes = b""
    choices: Sequence[tuple[int, dict[str, Any]]] = ()

    def bearer(self, index: int, names: Sequence[str]) -> int | None:
        """The position of the first choice with this index whose delta bears one of the names."""
        for position, (stated, choice) in enumerate(self.choices):
            delta = choice.get("delta")
            if stated == index and isinstance(delta, dict) and any(map(delta.get, names)):
                return position
        return None

    def finishes(self, index: int) -> bool:
        return any(
            stated == index and choice.get("finish_reason") for stated, choice in self.choices
        )


def _chunk_of(item: Event) -> _Chunk:
    try:
        document = json.loads(item.data or b"")
    except ValueError:
        return _Chunk(item)
    if not isinstance(document, dict):
        return _Chunk(item)
    choices = [
        (index_of(choice, position), choice)
        for position, choice in enumerate(document.get("choices") or [])
    ]
    return _Chunk(item, item.data or b"", choices)


def _carrier(chunks: Sequence[_Chunk], index: int, new: NewContent) -> tuple[int, int] | None:
    """Which event is to bear the new content, and which of its choices."""
    names = ("content", *_REASONING) if new.clear_reasoning else ("content",)
    for at, chunk in enumerate(chunks):
        position = chunk.bearer(index, names)
        if position is not None:
            return at, position
    return None


def _place_to_add(chunks: Sequence[_Chunk], index: int) -> int:
    """Before the choice's finish; without one after the last choice, for usage comes behind."""
    for at, chunk in enumerate(chunks):
        if chunk.finishes(index):
            return at
    with_choices = [at for at, chunk in enumerate(chunks) if chunk.choices]
    if not with_choices:
        return 0
    last = with_choices[-1]
    return last if chunks[last].event.cut else last + 1


def _added_event(chunks: Sequence[_Chunk], at: int, index: int, new: NewContent) -> bytes:
    """One more event with the id, model and so on of its neighbour."""
    model = next((chunk for chunk in chunks[max(0, at - 1) : at + 1] if chunk.data), None)
    choice = {"index": index, "delta": {"content": new.content}, "finish_reason": None}
    changes = {
        "choices": b"[" + json.dumps(choice).encode() + b"]",
        "usage": None,
        "prompt_token_ids": None,
    }
    if model is None:
        return event(with_members(b"{}", changes))
    return event(with_members(model.data, changes), model.event.name)


def _rewritten(chunk: _Chunk, edits: Mapping[int, _Edit]) -> list[bytes]:
    """The event as it was, or edited by position, or nothing when the edit left nothing in it."""
    if not edits:
        return [chunk.event.raw]
    before = _choices_of(chunk.data)
    after = [
        _edited_delta(choice, edits[position]) if position in edits else choice
        for position, choice in enumerate(before)
    ]
    data = _with_choices(chunk.data, before, after)
    if data == chunk.data:
        return [chunk.event.raw]
    speaks_of_others = len(edits) < len(before)
    if speaks_of_others or _says_anything(json.loads(data)):
        return [event(data, chunk.event.name)]
    gets_content = all(edit.new.content is not None for edit in edits.values())
    if gets_content or _says_anything(json.loads(chunk.data)):
        return []
    return [event(data, chunk.event.name)]  # it may be all there is of a choice


def _edited_choice(choice: bytes, new: NewContent) -> bytes:
    present = members_of(choice)
    message = present.get("message", _NULL)
    if not message.startswith(b"{"):
        message = b'{"role":"assistant"}'
    cleared = _REASONING if new.clear_reasoning else ()
    changes = dict.fromkeys(members_of(message).keys() & set(cleared), _NULL)
    if new.content is not None:
        changes["content"] = json.dumps(new.content).encode()
    calls = members_of(message).get("tool_calls", _NULL)
    if new.arguments and calls.startswith(b"["):
        changes["tool_calls"] = calls_with_arguments(calls, new.arguments)
    extras = dict.fromkeys(present.keys() & set(_TOKEN_EXTRAS), _NULL)
    return with_members(choice, {"message": with_members(message, changes), **extras})


def _edited_delta(choice: bytes, edit: _Edit) -> bytes:
    present = members_of(choice)
    extras = {name: _NULL for name in _TOKEN_EXTRAS if present.get(name, _NULL) != _NULL}
    delta = present.get("delta", _NULL)
    if not delta.startswith(b"{"):
        return with_members(choice, extras)
    changes = _changes_of_delta(members_of(delta), edit)
    return with_members(choice, {"delta": with_members(delta, changes), **extras})


def _changes_of_delta(present: Mapping[str, bytes], edit: _Edit) -> dict[str, bytes | None]:
    new = edit.new
    changes: dict[str, bytes | None] = dict.fromkeys(_REASONING) if new.clear_reasoning else {}
    if edit.carries:
        changes["content"] = json.dumps(new.content).encode()
    elif new.content is not None and present.get("content", _NULL) != _NULL:
        changes["content"] = b'""'
    calls = present.get("tool_calls", _NULL)
    if new.arguments and calls.startswith(b"["):
        changes["tool_calls"] = edit.calls.edited(calls)
    return changes


def _choices_of(document: bytes) -> list[bytes]:
    choices = members_of(document).get("choices", _NULL)
    return [] if choices == _NULL else items_of(choices)


def _with_choices(document: bytes, before: list[bytes], after: list[bytes]) -> bytes:
    """The document as it was when no choice has changed, else with the new choices."""
    if before == after:
        return document
    return with_members(document, {"choices": b"[" + b",".join(after) + b"]"})


def _says_anything(chunk: dict[str, Any]) -> bool:
    """Whether anything useful is left: usage, an error, a finish, or any part of a delta."""
    if chunk.get("usage") or chunk.get("error"):
        return True
    for choice in chunk["choices"]:
        delta = choice.get("delta")
        if choice.get("finish_reason") or (isinstance(delta, dict) and any(delta.values())):
            return True
    return False
