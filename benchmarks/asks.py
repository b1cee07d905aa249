"""What the benchmark asks for: the requests of the load, built once, as bytes.

Pace and sizes travel in the prompt, since some gateways drop headers they do not know; the fake
upstream reads them there.
"""

import itertools
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import contents


class Ask(StrEnum):
    """What a request asks for, and so which way it takes through Sluicegate."""

    PLAIN = "plain"  # a text: no gate applies
    STRICT = "strict"  # a JSON document that satisfies a schema
    PROSE = "prose"  # the same, but the upstream answers with a text
    OFFERED = "offered"  # a text, though tools are offered
    CALL = "call"  # a tool call, which is required


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

_PLACE = {
    "type": "object",
    "required": ["host"],
    "properties": {"host": {"type": "string"}, "port": {"type": "integer"}},
}
_QUESTION = "Report on the shards of the ledger writer. " + " ".join(contents.SENTENCES)


def chat_request(
    ask: Ask,
    *,
    stream: bool,
    schema: Mapping[str, Any] = SCHEMA,
    tokens: int = 0,
    **marks: int,
) -> bytes:
    """The body of one chat request.

    `schema` is what strict JSON and a call's arguments have to satisfy. `tokens` limits the reply,
    0 leaves it open. Marks, with `-` for `_` in the prompt: `pace_ms`, `document_items`,
    `stream_events`; 0 is the same as none.
    """
    told = [f"{name.replace('_', '-')}={value}" for name, value in marks.items() if value]
    told += ["answer-in-prose"] if ask is Ask.PROSE else []
    body: dict[str, Any] = {
        "model": contents.MODEL,
        "messages": [
            {"role": "system", "content": "You are a terse assistant for operators."},
            {"role": "user", "content": " ".join([_QUESTION, *told])},
        ],
        "temperature": 0.7,
    }
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if tokens:
        body["max_tokens"] = tokens
    body |= _promise(ask, schema)
    return json.dumps(body, separators=(",", ":")).encode()


def sourced_request(tag: str, characters: int) -> bytes:
    """A request that brings so much source in a tag, with a number in each sentence."""
    sentences, length = [], 0
    for number, sentence in enumerate(itertools.cycle(contents.SENTENCES)):
        if length >= characters:
            break
        sentences.append(f"{sentence[:-1]} (entry {number}).")
        length += len(sentences[-1]) + 1
    content = f"{_QUESTION} <{tag}>{' '.join(sentences)}</{tag}>"
    messages = [{"role": "user", "content": content}]
    return json.dumps({"model": contents.MODEL, "messages": messages}).encode()


def _promise(ask: Ask, schema: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a gate apply."""
    match ask:
        case Ask.PLAIN:
            return {}
        case Ask.STRICT | Ask.PROSE:
            named = {"name": "report", "strict": True, "schema": schema}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case Ask.OFFERED:
            return {"tools": _tools(schema)}
        case Ask.CALL:
            return {"tools": _tools(schema), "tool_choice": "required"}


def _tools(schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        _tool(contents.TOOL, "File a report on the shards of a service.", schema),
        _tool("restart_shard", "Restart one shard and wait for it.", _PLACE),
        _tool("read_log", "Read the last lines of a shard's log.", _PLACE),
    ]


def _tool(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}
