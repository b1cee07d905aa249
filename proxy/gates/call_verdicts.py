"""How faults of tool calls are told: to the client by place, to the model by what to do instead."""

import json
from collections.abc import Iterable
from typing import Any

from proxy.errors import Fault
from proxy.gates.base import Result, Verdict
from proxy.gates.schema_violation import shorten
from proxy.gates.tool_contract import Tool

GATE = "tool_calls"
BE_SHORT = "The token limit cut your tool call. Call again with shorter arguments."
_LONGEST_LIST = 400


def failed(fault: Fault, place: str, predicate: str, feedback: str) -> Verdict:
    """`predicate` says what is wrong with the place."""
    return Verdict(GATE, Result.FAIL, fault, f"{place} {predicate}.", place, feedback)


def place_of(choice: int, position: int) -> str:
    """The client's name of a call: index of the choice, position among its calls."""
    return f"choices[{choice}].message.tool_calls[{position}]"


def quoted(name: str) -> str:
    """A name that the model wrote, shortened."""
    return json.dumps(shorten(name), ensure_ascii=False)


def listed(names: Iterable[str]) -> str:
    return shorten(", ".join(names), _LONGEST_LIST)


def call_again(tool: Tool) -> str:
    """The correction for wrong arguments, with what the tool expects."""
    expected = _expected(json.loads(tool.parameters)) if tool.parameters else ""
    parameters = f" Its parameters: {expected}." if expected else ""
    return f"Call {shorten(tool.name)} again with one JSON object as arguments.{parameters}"


def _expected(schema: dict[str, Any]) -> str:
    """Each parameter, its type where the schema says it plainly, and whether it is required."""
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return ""
    needed = required if isinstance(required, list) else []
    return listed(
        f"{name} ({', '.join([*_type_of(member), *(['required'] if name in needed else [])])})"
        for name, member in properties.items()
    ).replace(" ()", "")


def _type_of(member: Any) -> list[str]:
    kind = member.get("type") if isinstance(member, dict) else None
    kinds = kind if isinstance(kind, list) else [kind]
    words = " or ".join(word for word in kinds if isinstance(word, str))
    return [words] if words else []
