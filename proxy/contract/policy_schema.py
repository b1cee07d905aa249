"""The JSON Schema of policy files, for editors: completion, hints, and words marked as wrong.

Made from the same models that the loader uses, so the two cannot disagree.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any, Final

from proxy.contract.policy_document import PolicyDocument
from proxy.contract.policy_rules import RuleBlock
from proxy.gates.registry import GateKind, gate_kinds

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_FALLBACK_NEEDS_A_TEXT: Final = {
    "if": {
        "properties": {"on_fail": {"type": "array", "contains": {"const": "fallback"}}},
        "required": ["on_fail"],
    },
    "then": {"properties": {"fallback_text": {"pattern": r"\S"}}, "required": ["fallback_text"]},
}


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
    """A gate's options and the keys of its rule as one object."""
    options = kind.options.model_json_schema()
    rule = RuleBlock.model_json_schema()
    definitions.update(options.pop("$defs", {}))
    definitions.update(rule.pop("$defs", {}))
    return {
        **options,
        "title": kind.name,
        "properties": {**options.get("properties", {}), **rule["properties"]},
        **_FALLBACK_NEEDS_A_TEXT,
    }


def _or_nothing(schema: dict[str, Any]) -> dict[str, Any]:
    """A key with nothing after it stands for all defaults."""
    return {"anyOf": [schema, {"type": "null"}]}


if __name__ == "__main__":
    sys.stdout.write(render_policy_schema(gate_kinds()))
