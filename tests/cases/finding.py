"""What a check has to say: something is wrong, or it could not be checked."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Wrong:
    """An expectation that does not hold."""

    text: str


@dataclass(frozen=True, slots=True)
class NotChecked:
    """An expectation in words that no program here understands, or that cannot be seen."""

    text: str


Finding = Wrong | NotChecked


def differs(name: str, wanted: Any, found: Any) -> list[Finding]:
    """A finding unless what was found is wanted, or one of a list of allowed values."""
    allowed: Collection[Any] = wanted if isinstance(wanted, list) else [wanted]
    return [] if found in allowed else [Wrong(f"{name}: wanted {wanted!r}, found {found!r}")]
