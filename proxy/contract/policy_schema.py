"""The JSON Schema of policy files, for editors: completion, hints, and words marked as wrong.

Made from the same models that the loader uses, so the two cannot disagree.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any, Final

from proxy.contract.policy_document import PolicyDocument
from proxy.contract.policy_ladders import JUDGE, ladder_block
from proxy.contract.policy_rules import RuleBlock
from proxy.gates.registry import GateKind, LadderKind, gate_kinds

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def policy_schema(kinds: Mapping[str, GateKind]) -> dict[str, Any]:
    """The schema of a policy file that may use the given gates."""
    schema = PolicyDocument.model_json_schema()
    definitions: dict[str, Any] = schema.setdefault("$defs", {})
    blocks: dict[str, Any] = {}
    for name, kind in kinds.items():
        blocks[name] = _or_nothing(_block(kind, definitions))
    schema["properties"]["gates"] = {
        "type": "object",
        "description": "The gates and what follows their verdicts.",
        "properties": blocks,
        "additionalProperties": False,
    }
    for name in ("match", "attempts", "stream"):
        schema["properties"][name] = _or_nothing(schema["properties"][name])
    return {"$schema": _DIALECT, **schema, "title": "Sluicegate policy"}


def render_policy_schema(kinds: Mapping[str, GateKind]) -> str:
    """The schema as the text of a file."""
    return json.dumps(policy_schema(kinds), indent=2, ensure_ascii=False) + "\n"


def _block(kind: GateKind, definitions: dict[str, Any]) -> dict[str, Any]:
    """A gate's options, the keys of its rule and its ladders as one object."""
    options = kind.options.model_json_schema()
    rule = RuleBlock.model_json_schema()
    definitions.update(options.pop("$defs", {}))
    definitions.update(rule.pop("$defs", {}))
    block = {
        **options,
        "title": kind.name,
        "properties": options.get("properties", {}),
    }
    for ladder in kind.ladders:
        schema = ladder_block(ladder).model_json_schema()["properties"][ladder.key[-1]]
        _holder(block, ladder.key, definitions)["properties"][ladder.key[-1]] = schema
    for part in {ladder.key[0] for ladder in kind.ladders if len(ladder.key) > 1}:
        block["properties"][part] = _or_nothing(block["properties"][part])
    block["properties"].update(rule["properties"])
    for ladder in kind.ladders:
        if ladder.judge:
            there = {
                "required": [ladder.judge],
                "properties": {ladder.judge: {"type": "object"}},
            }
            asks = {"if": _with_step(ladder, JUDGE), "then": there}
            block.setdefault("allOf", []).append(asks)
    falls_back = [
        _with_step(ladder, "fallback") for ladder in kind.ladders if not ladder.hints_only
    ]
    block["if"] = falls_back[0] if len(falls_back) == 1 else {"anyOf": falls_back}
    block["then"] = {
        "properties": {"fallback_text": {"pattern": r"\S"}},
        "required": ["fallback_text"],
    }
    return block


def _holder(
    block: dict[str, Any], key: tuple[str, ...], definitions: dict[str, Any]
) -> dict[str, Any]:
    """The object in a block's schema that has the last step of a key as its member."""
    for parent in key[:-1]:
        block = block["properties"][parent]
        block = definitions[block["$ref"].rpartition("/")[2]] if "$ref" in block else block
    return block


def _with_step(ladder: LadderKind, step: str) -> dict[str, Any]:
    """The schema of a block whose ladder holds a step."""
    schema: dict[str, Any] = {"type": "array", "contains": {"const": step}}
    for key in reversed(ladder.key):
        schema = {"type": "object", "properties": {key: schema}, "required": [key]}
    return schema


def _or_nothing(schema: dict[str, Any]) -> dict[str, Any]:
    """A key with nothing after it stands for all defaults."""
    return {"anyOf": [schema, {"type": "null"}]}


if __name__ == "__main__":
    sys.stdout.write(render_policy_schema(gate_kinds()))
