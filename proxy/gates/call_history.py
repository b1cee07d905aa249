"""Tool calls that a client sends back as history and that no server could read again."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

_MARK = b"tool_calls"


def broken_history(messages: bytes) -> Iterator[str]:
    """The places of arguments that are not JSON: `messages[1].tool_calls[0].function.arguments`.

    Empty arguments are none of them: vLLM reads those as an empty object.
    """
    if _MARK not in messages:
        return
    for position, message in enumerate(_list(_document(messages))):
        calls = _list(message.get("tool_calls")) if isinstance(message, dict) else []
        for place, call in enumerate(calls):
            if _is_broken(call):
                yield f"messages[{position}].tool_calls[{place}].function.arguments"


def _document(messages: bytes) -> Any:
    try:
        return msgspec.json.decode(messages)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return json.loads(messages)  # lone surrogates, which the fast reader refuses


def _is_broken(call: Any) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    arguments = function.get("arguments") if isinstance(function, dict) else None
    if not isinstance(arguments, str) or not arguments:
        return False
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return True
    return False


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
