"""What `recipe fit` finds, and how each finding is known."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """How a finding is known."""

    EVIDENCE = "evidence"
    """Measured with this recipe on this kind of machine."""
    DOCUMENTED = "documented"
    """A public document says so; nobody measured this recipe there."""
    DERIVED = "derived"
    """Follows from other numbers by arithmetic."""
    BOUNDED = "bounded"
    """The source gives a bound and no number, or it follows from one."""
    TRANSFER = "transfer"
    """Measured on another machine or with another recipe: only the direction may carry over."""
    ASSUMED = "assumed"
    """The source is silent; somebody chose."""
    CONFLICT = "conflict"
    """It does not fit."""
    UNKNOWN = "unknown"
    """Nothing is on record."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the answer. `source` is an address or the title of what it rests on."""

    kind: Kind
    text: str
    source: str = ""
