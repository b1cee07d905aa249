"""Reads members of a foreign JSON document: what is ill-typed reads as absent."""

from typing import TypeGuard


def text_of(value: object) -> str | None:
    """A string, or the texts of a list of content parts; None for anything else."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return None
    texts = (part.get("text") if isinstance(part, dict) else part for part in value)
    return "".join(text for text in texts if isinstance(text, str))


def is_whole(value: object) -> TypeGuard[int]:
    """An integer; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)
