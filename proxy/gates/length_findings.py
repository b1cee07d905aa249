"""What is wrong with the length of texts, in words: for the client, and for the model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from proxy.errors import Fault
from proxy.gates.base import Result, Verdict
from proxy.gates.length_options import NAME, LengthTarget
from proxy.gates.text_targets import WHOLE_NAME, FoundText
from proxy.gates.text_units import Unit

_MOST_TOLD: Final = 8
_AGAIN: Final = "Answer again in full, in the same form, with what is right left as it is."


@dataclass(frozen=True, slots=True)
class LengthFinding:
    """One text that breaks one limit. `complaint` reads on from the text's name."""

    fault: Fault
    place: str
    name: str
    complaint: str
    advice: str


def finding_on(
    target: LengthTarget, found: FoundText, count: int, *, blank: bool
) -> LengthFinding | None:
    """What is wrong with a text of this count; None where both limits hold."""
    unit, least, most = target.unit, target.min, target.max
    if least is not None and blank:
        complaint = f"is blank but needs at least {unit.of(least)}"
        advice = f"write {least} to {unit.of(most)}" if most else f"write {unit.of(least)} or more"
        return _finding(Fault.BLANK, target, found, complaint, advice)
    if least is not None and count < least:
        complaint = f"has {count} of at least {unit.of(least)}"
        return _finding(Fault.TOO_SHORT, target, found, complaint, f"lengthen by {least - count}")
    if most is not None and count > most:
        complaint = f"has {count} of at most {unit.of(most)}"
        return _finding(Fault.TOO_LONG, target, found, complaint, f"shorten by {count - most}")
    return None


def overrun(target: LengthTarget, place: str) -> LengthFinding:
    """A text that is longer than allowed already, and was not waited for."""
    limit = target.unit.of(target.max or 0)
    found = FoundText(place, WHOLE_NAME, "")
    complaint = f"has more than {limit}"
    return _finding(Fault.TOO_LONG, target, found, complaint, f"keep to at most {limit}")


def verdict_on(findings: Sequence[LengthFinding]) -> Verdict:
    """The verdict on one choice: the first finding is its fault, the feedback names them all."""
    if not findings:
        return Verdict(NAME, Result.PASS)
    first = findings[0]
    told = [f"{one.name} {one.complaint}: {one.advice}." for one in findings[:_MOST_TOLD]]
    if len(findings) > _MOST_TOLD:
        told.append(f"So it is with {len(findings) - _MOST_TOLD} more.")
    return Verdict(
        NAME,
        Result.FAIL,
        first.fault,
        f"{first.place} {first.complaint}.",
        first.place,
        "\n".join([*told, _AGAIN]),
    )


def _finding(
    fault: Fault, target: LengthTarget, found: FoundText, complaint: str, advice: str
) -> LengthFinding:
    if target.aim is not None:
        advice += f" (aim for {target.aim[0]} to {target.aim[1]})"
    if target.unit is Unit.TOKENS:
        advice += " (tokens are pieces of words)"
    return LengthFinding(fault, found.place, found.name, complaint, advice)
