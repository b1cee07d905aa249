"""Reads members of a foreign JSON document: what is ill-typed reads as absent."""

from collections.abc import Sequence
from typing import Any, TypeGuard


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


def index_of(item: dict[str, Any], position: int) -> int:
    """The index that a choice or a call states; its position when it states none."""
    index = item.get("index")
    return index if is_whole(index) else position


def indexes_of(choices: Sequence[dict[str, Any]]) -> Sequence[int]:
    """The indexes of a body's choices; their positions where two would share one."""
    stated = [index_of(choice, position) for position, choice in enumerate(choices)]
    return stated if len(set(stated)) == len(stated) else range(len(stated))
