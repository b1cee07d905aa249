"""Which model an engine serves, asked of the engine itself."""

import json
from dataclasses import dataclass, replace
from typing import Any, Final

from proxy.upstream.lane import Call, Lane

_MODELS: Final = Call("GET", "/v1/models", ())
_OK: Final = 200
_PAGE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class ServedModel:
    """`name` is empty where nothing tells it; `context_tokens` is vLLM's `max_model_len`."""

    name: str = ""
    context_tokens: int | None = None


async def ask_served_model(lane: Lane, expected: ServedModel) -> ServedModel:
    """The expected model where it is served by that name, else the first that is listed.

    What the engine does not tell is as expected. Raises `UpstreamError`.
    """
    page = bytearray()
    with await lane.open(_MODELS) as reply:
        while len(page) <= _PAGE_BYTES and (chunk := await reply.chunk()):
            page += chunk
        if reply.status != _OK:
            return expected
    listed = _listed(bytes(page))
    named = [model for model in listed if model.name == expected.name]
    served = (named or listed or [expected])[0]
    return replace(served, context_tokens=served.context_tokens or expected.context_tokens)


def _listed(page: bytes) -> list[ServedModel]:
    try:
        document = json.loads(page)
    except (ValueError, RecursionError):
        return []
    data = document.get("data") if isinstance(document, dict) else None
    return [_model(entry) for entry in data if _is_model(entry)] if isinstance(data, list) else []


def _is_model(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("id"), str)


def _model(entry: dict[str, Any]) -> ServedModel:
    length = entry.get("max_model_len")
    is_length = isinstance(length, int) and not isinstance(length, bool) and length > 0
    return ServedModel(entry["id"], length if is_length else None)
