"""What the fake upstream says: whole replies and events as bytes, in vLLM's spelling.

Nothing here knows of sockets or requests.
"""

import itertools
import json
from typing import Any

MODEL = "Qwen/Qwen3.6-35B-A3B-FP8"
TOOL = "file_report"
PROMPT_TOKENS = 212
STREAM_TOKENS = 128
REPLY_TOKENS = 384
ITEMS = 18

_CREATED = 1_790_000_000
_ENVELOPE = {"id": "chatcmpl-8f2d1c07b6a94e", "created": _CREATED, "model": MODEL}
_CALL_ID = "chatcmpl-tool-5d0a41c2e7b8"

SENTENCES = (
    "The queue drains once the second worker has taken its share of the backlog.",
    "Each entry keeps the time at which it was written, so a later reader can order them.",
    "A connection that falls silent is closed after a minute and its slot is given back.",
    "Numbers in the report are medians; the spread stands beside them.",
    "Where two sources disagree, the older one is named first and the newer one is preferred.",
)
TEXT = " ".join(SENTENCES * 4)


def document(items: int) -> str:
    """A document that fits the load's schema, of about 95 bytes an item."""
    checks = [
        {
            "id": number,
            "name": f"shard-{number}-replica",
            "status": ("ok", "ok", "slow", "failed")[number % 4],
            "latency_ms": number * 3.25,
            "tags": ["primary" if number % 2 else "standby", f"zone-{number % 3}"],
        }
        for number in range(1, items + 1)
    ]
    report = {
        "service": "ledger-writer",
        "checked_at": "2026-11-30T06:40:00Z",
        "healthy": False,
        "checks": checks,
    }
    return json.dumps(report, separators=(",", ":"))


DOCUMENT = document(ITEMS)


def completion(content: str) -> bytes:
    """One whole chat completion around `content`."""
    return _completion({"content": content, "tool_calls": []}, "stop")


def call_completion(arguments: str) -> bytes:
    """One whole chat completion that is a tool call."""
    function = {"name": TOOL, "arguments": arguments}
    call = {"id": _CALL_ID, "type": "function", "function": function}
    return _completion({"content": None, "tool_calls": [call]}, "tool_calls")


def pieces(content: str, count: int = STREAM_TOKENS) -> list[str]:
    """`content` cut into so many pieces."""
    cuts = [len(content) * number // count for number in range(count + 1)]
    return [content[begin:end] for begin, end in itertools.pairwise(cuts)]


def text_pieces(count: int) -> list[str]:
    """A text of any length, said in pieces of 12 or 13 characters."""
    return list(itertools.islice(itertools.cycle(pieces(TEXT)), count))


def role_event() -> bytes:
    return _event([_delta({"role": "assistant", "content": ""})], prompt_token_ids=None)


def token_event(piece: str) -> bytes:
    return _event([_delta({"content": piece}) | {"token_ids": None}])


def call_begin_event() -> bytes:
    """The event that opens a tool call, with its id and name."""
    function = {"name": TOOL, "arguments": ""}
    call = {"index": 0, "id": _CALL_ID, "type": "function", "function": function}
    return _event([_delta({"tool_calls": [call]}) | {"token_ids": None}])


def call_event(piece: str) -> bytes:
    call = {"index": 0, "function": {"arguments": piece}}
    return _event([_delta({"tool_calls": [call]}) | {"token_ids": None}])


def finish_event(reason: str) -> bytes:
    ending = {"finish_reason": reason, "stop_reason": None, "token_ids": None}
    return _event([_delta({"content": ""}) | ending])


def usage_event(tokens: int) -> bytes:
    return _event([], usage=_usage(tokens))


def models() -> bytes:
    model = {"id": MODEL, "object": "model", "created": _CREATED, "owned_by": "vllm"}
    return json.dumps({"object": "list", "data": [model]}).encode()


def _completion(said: dict[str, Any], finish_reason: str) -> bytes:
    message: dict[str, Any] = {
        "role": "assistant",
        "refusal": None,
        "annotations": None,
        "audio": None,
        "function_call": None,
        "reasoning": None,
    }
    choice = {
        "index": 0,
        "message": message | said,
        "logprobs": None,
        "finish_reason": finish_reason,
        "stop_reason": None,
        "token_ids": None,
    }
    reply = _ENVELOPE | {
        "object": "chat.completion",
        "choices": [choice],
        "service_tier": None,
        "system_fingerprint": None,
        "usage": _usage(REPLY_TOKENS),
        "prompt_logprobs": None,
        "prompt_token_ids": None,
        "kv_transfer_params": None,
    }
    return json.dumps(reply, separators=(",", ":")).encode()


def _usage(tokens: int) -> dict[str, Any]:
    return {
        "prompt_tokens": PROMPT_TOKENS,
        "total_tokens": PROMPT_TOKENS + tokens,
        "completion_tokens": tokens,
        "prompt_tokens_details": None,
    }


def _delta(delta: dict[str, Any]) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}


def _event(choices: list[dict[str, Any]], **more: object) -> bytes:
    chunk = _ENVELOPE | {"object": "chat.completion.chunk", "choices": choices} | more
    return b"data: " + json.dumps(chunk, separators=(",", ":")).encode() + b"\n\n"
