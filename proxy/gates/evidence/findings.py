"""What is found in an answer: each claim that could be compared, and how the sources bear on it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from proxy.errors import Fault


class Kind(StrEnum):
    """What sort of claim. Typed ones can be compared exactly, the others are hints."""

    NUMBER = "number"
    UNIT = "unit"
    DATE = "date"
    VERSION = "version"
    IDENTIFIER = "identifier"
    URL = "url"
    QUOTATION = "quotation"
    NAME = "name"
    CAUSAL = "causal"
    NEGATION = "negation"
    NEW_WORDS = "new_words"

    @property
    def fault(self) -> Fault:
        return Fault(f"evidence_{self}")

    @property
    def is_typed(self) -> bool:
        return self in TYPED


TYPED: Final = frozenset(
    {
        Kind.NUMBER,
        Kind.UNIT,
        Kind.DATE,
        Kind.VERSION,
        Kind.IDENTIFIER,
        Kind.URL,
        Kind.QUOTATION,
    }
)


# What quantities are reported as.
VALUES: Final = frozenset({Kind.NUMBER, Kind.UNIT, Kind.DATE})


class Rounding(StrEnum):
    """Which rounded values count as borne: none, those with a hedge before them, or all."""

    EXACT = "exact"
    HEDGED = "hedged"
    FREE = "free"


class Support(StrEnum):
    """How the sources bear on a claim."""

    EXACT = "exact"
    ROUNDED = "rounded"
    CONVERTED = "converted"
    DERIVED = "derived"
    MISSING = "missing"
    UNIT_MISMATCH = "unit_mismatch"


@dataclass(frozen=True, slots=True)
class Span:
    """A range of characters, its end excluded."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim of an answer.

    `span` lies in the answer, `nearest` in the source: what supports the claim, else what comes
    nearest to it. `value` is the claim in one form for all ways of writing it. `operation` says how
    a derived value comes about ("19:25 - 18:40").
    """

    kind: Kind
    support: Support
    span: Span
    value: str
    nearest: Span | None = None
    operation: str = ""

    @property
    def is_flag(self) -> bool:
        """Whether the sources do not bear the claim."""
        return self.support in (Support.MISSING, Support.UNIT_MISMATCH)
