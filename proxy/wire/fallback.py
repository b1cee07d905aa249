"""Put a fixed text in the place of a failed reply, in the shape of what the upstream sent."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.wire.splice import items_of, members_of, with_members
from proxy.wire.sse import DONE, Event, event

_STOP = "stop"
_NULL = b"null"
# They describe the tokens of the reply that is replaced, or its prompt.
_TOKEN_EXTRAS = ("prompt_logprobs", "prompt_token_ids", "prompt_text")


@dataclass(frozen=True, slots=True)
class Head:
    """What a completion says of itself where the upstream's own words are missing.

    `created` is Unix time in seconds.
    """

    id: str
    created: int
    model: str


def body_with_text(body: bytes, head: Head, text: str, indexes: Sequence[int]) -> bytes:
    """A chat completion whose choices all say this text and nothing else.

    Keeps the other members of `body`, usage among them; an empty or unreadable one is made from
    `head`. `indexes` are those of the choices.
    """
    choices = [
        {
            "index": index,
            "message": {"role": "assistant", "content": text},
            "logprobs": None,
            "finish_reason": _STOP,
        }
        for index in indexes
    ]
    changes: dict[str, bytes | None] = dict.fromkeys(_TOKEN_EXTRAS)
    changes["choices"] = json.dumps(choices).encode()
    try:
        return with_members(body, changes)
    except ValueError:
        return with_members(_document(head, "chat.completion"), changes)


def events_with_text(
    events: Iterable[Event], head: Head, text: str, indexes: Sequence[int]
) -> list[bytes]:
    """A chat stream whose choices all say this text in one event each, `[DONE]` included.

    Its chunks are made after the first one of `events`, else from `head`. Usage stands where it
    stood: in an event of its own, in the last finish, or nowhere.
    """
    chunks = [members for item in events if (members := _chunk_of(item)) is not None]
    model = next((chunk for chunk in chunks if not _is_bare(chunk)), None)
    base = _document(head, "chat.completion.chunk") if model is None else _joined(model)
    bearer = next((chunk for chunk in reversed(chunks) if _usage_of(chunk) != _NULL), None)
    usage = None if bearer is None else _usage_of(bearer)
    deltas: list[dict[str, Any]] = [
        *(_choice(index, {"role": "assistant", "content": ""}) for index in indexes),
        *(_choice(index, {"content": text}) for index in indexes),
        *(_choice(index, {}, _STOP) for index in indexes),
    ]
    said = [_chunk(base, [delta]) for delta in deltas]
    if bearer is not None and _is_bare(bearer):
        said.append(_chunk(base, [], usage))
    elif usage is not None:
        said[-1] = _chunk(base, deltas[-1:], usage)
    return [*map(event, said), DONE]


def _choice(index: int, delta: dict[str, str], finish_reason: str | None = None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish_reason}


def _chunk(base: bytes, choices: Sequence[dict[str, Any]], usage: bytes | None = None) -> bytes:
    return with_members(base, {"choices": _compact(choices), "usage": usage})


def _chunk_of(item: Event) -> dict[str, bytes] | None:
    """The members of an event's chunk; None where it is none."""
    try:
        members = members_of(item.data or b"")
    except ValueError:
        return None
    return members if members.get("choices", b"").startswith(b"[") else None


def _is_bare(chunk: dict[str, bytes]) -> bool:
    """Whether a chunk has no choices, as the extra one that bears the usage."""
    return not items_of(chunk["choices"])


def _usage_of(chunk: dict[str, bytes]) -> bytes:
    return chunk.get("usage", _NULL)


def _joined(chunk: dict[str, bytes]) -> bytes:
    kept = {name: value for name, value in chunk.items() if name not in (*_TOKEN_EXTRAS, "usage")}
    return with_members(b"{}", kept)


def _document(head: Head, kind: str) -> bytes:
    return _compact(
        {
            "id": head.id,
            "object": kind,
            "created": head.created,
            "model": head.model,
            "choices": [],
        }
    )


def _compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
