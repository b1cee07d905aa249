"""What the gate `pattern` finds, and the verdict that tells it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from proxy.errors import Fault
from proxy.gates.base import Result, Verdict
from proxy.gates.pattern_options import NAME

_MOST_TOLD: Final = 5
_QUOTED_CHARACTERS: Final = 60


@dataclass(frozen=True, slots=True)
class Found:
    """One thing wrong; `remedy` is for the model and may quote a few words of the reply."""

    fault: Fault
    place: str
    reason: str
    remedy: str


def verdict_on(found: Sequence[Found]) -> Verdict:
    """The first fault, with a correction that names the others as well; a pass without any."""
    if not found:
        return Verdict(NAME, Result.PASS)
    first = found[0]
    remedies = dict.fromkeys(each.remedy for each in found)
    feedback = " ".join([*list(remedies)[:_MOST_TOLD], "Write the whole answer again."])
    reason = f"{first.place}: {first.reason}"
    return Verdict(NAME, Result.FAIL, first.fault, reason, first.place, feedback)


def short(text: str) -> str:
    """The text in one line, its end left out where it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _QUOTED_CHARACTERS else f"{flat[:_QUOTED_CHARACTERS]}..."
