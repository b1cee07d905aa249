"""What the benchmark says: the requests of the load and the replies of the fake upstream.

Everything is built once, as bytes, in vLLM's spelling; nothing here knows of sockets.
"""

import itertools
import json
from collections.abc import Mapping
from typing import Any

MODEL = "Qwen/Qwen3.6-35B-A3B-FP8"
PROMPT_TOKENS = 212
STREAM_TOKENS = 128
REPLY_TOKENS = 384
ITEMS = 18

_CREATED = 1_790_000_000
_ENVELOPE = {"id": "chatcmpl-8f2d1c07b6a94e", "created": _CREATED, "model": MODEL}

_SENTENCES = (
    "The queue drains once the second worker has taken its share of the backlog.",
    "Each entry keeps the time at which it was written, so a later reader can order them.",
    "A connection that falls silent is closed after a minute and its slot is given back.",
    "Numbers in the report are medians; the spread stands beside them.",
    "Where two sources disagree, the older one is named first and the newer one is preferred.",
)
TEXT = " ".join(_SENTENCES * 4)

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["service", "checked_at", "healthy", "checks"],
    "properties": {
        "service": {"type": "string", "minLength": 1},
        "checked_at": {"type": "string"},
        "healthy": {"type": "boolean"},
        "checks": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["id", "name", "status", "latency_ms", "tags"],
                "properties": {
                    "id": {"type": "integer", "minimum": 1},
                    "name": {"type": "string", "pattern": "^[a-z][a-z0-9-]*$"},
                    "status": {"enum": ["ok", "slow", "failed"]},
                    "latency_ms": {"type": "number", "minimum": 0},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
            },
        },
    },
}


# Each level asks for the next one twice: two to the twentieth checks of one small document.
HOSTILE_SCHEMA: dict[str, Any] = {
    "$ref": "#/$defs/d0",
    "$defs": {
        f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(20)
    }
    | {"d20": {"type": "object"}},
}


def document(items: int) -> str:
    """A document that fits `SCHEMA`, of about 95 bytes an item."""
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


def chat_request(
    *,
    stream: bool,
    schema: Mapping[str, Any] | None = None,
    pace_ms: int = 0,
    tokens: int = 0,
    items: int = 0,
) -> bytes:
    """The body of one chat request; with a `schema` it asks for strict JSON.

    Pace and items travel in the prompt, since some gateways drop headers they do not know;
    `tokens` limits the reply's length, 0 leaves it open, as `items` leaves the document's.
    """
    question = "Report on the shards of the ledger writer. " + " ".join(_SENTENCES)
    if pace_ms:
        question += f" pace-ms={pace_ms}"
    if items:
        question += f" document-items={items}"
    body: dict[str, Any] = {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": "You are a terse assistant for operators."},
            {"role": "user", "content": question},
        ],
        "temperature": 0.7,
    }
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if tokens:
        body["max_tokens"] = tokens
    if schema is not None:
        named = {"name": "report", "strict": True, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    return json.dumps(body, separators=(",", ":")).encode()


def completion(content: str) -> bytes:
    """One whole chat completion around `content`."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": content,
        "refusal": None,
        "annotations": None,
        "audio": None,
        "function_call": None,
        "tool_calls": [],
        "reasoning": None,
    }
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": "stop",
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


def pieces(content: str) -> list[str]:
    """`content` cut into as many pieces as a stream has tokens."""
    cuts = [len(content) * number // STREAM_TOKENS for number in range(STREAM_TOKENS + 1)]
    return [content[begin:end] for begin, end in itertools.pairwise(cuts)]


def role_event() -> bytes:
    return _event([_delta({"role": "assistant", "content": ""})], prompt_token_ids=None)


def token_event(piece: str) -> bytes:
    return _event([_delta({"content": piece}) | {"token_ids": None}])


def finish_event(reason: str) -> bytes:
    ending = {"finish_reason": reason, "stop_reason": None, "token_ids": None}
    return _event([_delta({"content": ""}) | ending])


def usage_event(tokens: int) -> bytes:
    return _event([], usage=_usage(tokens))


def models() -> bytes:
    model = {"id": MODEL, "object": "model", "created": _CREATED, "owned_by": "vllm"}
    return json.dumps({"object": "list", "data": [model]}).encode()


def _usage(tokens: int) -> dict[str, Any]:
    return {
        "prompt_tokens": PROMPT_TOKENS,
        "total_tokens": PROMPT_TOKENS + tokens,
        "completion_tokens": tokens,
        "prompt_tokens_details": None,
    }


def _delta(delta: dict[str, str]) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}


def _event(choices: list[dict[str, Any]], **more: object) -> bytes:
    chunk = _ENVELOPE | {"object": "chat.completion.chunk", "choices": choices} | more
    return b"data: " + json.dumps(chunk, separators=(",", ":")).encode() + b"\n\n"
