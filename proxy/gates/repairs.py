"""Repairs of an answer that is valid JSON in the wrong wrapping. None of them changes a value.

Each proposes a text; whether that is the document is for the gate to decide.
"""

from collections.abc import Collection

from proxy.gates.base import Repair, Repaired
from proxy.wire.reply import Choice

_FENCE = "```"
_THINK, _END_OF_THINK = "<think>", "</think>"
_OPENINGS = {
    Repair.UNWRAP_FENCE: (_FENCE,),
    Repair.DROP_THINK_TAG: (_THINK, _END_OF_THINK),
}


def openings(allowed: Collection[Repair]) -> tuple[str, ...]:
    """Beginnings of a content that an allowed repair could still save."""
    return tuple(opening for repair in allowed for opening in _OPENINGS.get(repair, ()))


def propose(choice: Choice, allowed: Collection[Repair]) -> Repaired | None:
    """The content as it would be after the allowed repairs, or None if none fits."""
    content = (choice.content or "").strip()
    if not content:
        reasoning = choice.reasoning.strip()
        if Repair.JSON_FROM_REASONING in allowed and reasoning:
            return Repaired(reasoning, (Repair.JSON_FROM_REASONING,))
        return None
    repairs: list[Repair] = []
    if Repair.DROP_THINK_TAG in allowed and content.startswith((_THINK, _END_OF_THINK)):
        _, end, rest = content.partition(_END_OF_THINK)
        if end:
            content = rest.strip()
            repairs.append(Repair.DROP_THINK_TAG)
    if Repair.UNWRAP_FENCE in allowed and _is_fenced(content):
        inner = content[len(_FENCE) : -len(_FENCE)]
        content = (inner[4:] if inner[:4].lower() == "json" else inner).strip()
        repairs.append(Repair.UNWRAP_FENCE)
    return Repaired(content, tuple(repairs)) if repairs else None


def _is_fenced(content: str) -> bool:
    is_long_enough = len(content) >= 2 * len(_FENCE)
    return is_long_enough and content.startswith(_FENCE) and content.endswith(_FENCE)
