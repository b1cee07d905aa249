"""Repairs of an answer that is valid JSON in the wrong wrapping. None of them changes a value.

Each proposes a text; whether that is the document is for the gate to decide.
"""

import re
from collections.abc import Collection

from proxy.gates.base import Repair, Repaired
from proxy.wire.reply import Choice

_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL | re.IGNORECASE)
_THINK = re.compile(r"\s*(?:<think>.*?)?</think>\s*", re.DOTALL)
_OPENINGS = {
    Repair.UNWRAP_FENCE: ("```",),
    Repair.DROP_THINK_TAG: ("<think>", "</think>"),
}


def openings(allowed: Collection[Repair]) -> tuple[str, ...]:
    """Beginnings of a content that an allowed repair could still save."""
    return tuple(opening for repair in allowed for opening in _OPENINGS.get(repair, ()))


def propose(choice: Choice, allowed: Collection[Repair]) -> Repaired | None:
    """The content as it would be after the allowed repairs, or None if none fits."""
    content = choice.content or ""
    if not content.strip():
        if Repair.JSON_FROM_REASONING in allowed and choice.reasoning.strip():
            return Repaired(choice.reasoning.strip(), (Repair.JSON_FROM_REASONING,))
        return None
    repairs: list[Repair] = []
    think = _THINK.match(content) if Repair.DROP_THINK_TAG in allowed else None
    if think is not None:
        content = content[think.end() :]
        repairs.append(Repair.DROP_THINK_TAG)
    fence = _FENCE.fullmatch(content.strip()) if Repair.UNWRAP_FENCE in allowed else None
    if fence is not None:
        content = fence[1]
        repairs.append(Repair.UNWRAP_FENCE)
    return Repaired(content, tuple(repairs)) if repairs else None
