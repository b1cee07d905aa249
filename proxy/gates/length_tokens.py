"""What the gate `length` asks of a model: how many tokens its texts are."""

from dataclasses import dataclass

from proxy.gates.length_options import LengthTarget
from proxy.gates.questions import CountTokens
from proxy.gates.text_targets import FoundText


@dataclass(frozen=True, slots=True)
class Asked:
    """One text whose tokens decide, and the limit that they are for."""

    choice: int
    target: LengthTarget
    found: FoundText


@dataclass(frozen=True, slots=True)
class TokenQuestion(CountTokens):
    """A count of tokens, with what each of them is for."""

    asked: tuple[Asked, ...] = ()
