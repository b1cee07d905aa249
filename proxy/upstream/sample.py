"""The sample of an engine start: its first strict-JSON answer, and what cured an invalid one.

The first strict-JSON request that is sent holds the sample. One that comes to no verdict gives it
back, and the next takes it.
"""

from dataclasses import dataclass
from typing import Any

import msgspec

from proxy.telemetry.engine_start import AskedBy, EngineStartRecord, FirstAnswer, SampleRole


@dataclass(frozen=True, slots=True)
class EngineStart:
    """One load of the model. `untouched` is None when the upstream has no such counters."""

    number: int
    untouched: bool | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Dispatch:
    """A strict-JSON request that was sent, and the engine as it was then.

    `role`: what it was to the sample. `follows`: the sample of whose request this is a further
    attempt, by this `step`. `outages`: how often the engine had been away before.
    """

    start: EngineStart
    cold: bool
    by: AskedBy
    step: str
    role: SampleRole | None
    follows: "Dispatch | None"
    outages: int

    @property
    def is_sample(self) -> bool:
        return self.role is SampleRole.FIRST

    @property
    def request_sample(self) -> "Dispatch | None":
        """The sample among the attempts of this request so far."""
        return self if self.is_sample else self.follows


@dataclass(frozen=True, slots=True)
class Answer:
    """How the answer to a request was judged. `valid` None: it says nothing about the engine."""

    valid: bool | None
    fault: str | None = None


@dataclass(slots=True)
class Sample:
    """Who holds the sample of one engine start, and whether it has been judged.

    `expected`: its verdict is there, but not yet known which start it belongs to.
    """

    holder: Dispatch | None = None
    judged: bool = False
    expected: bool = False

    def role_of(self, follows: Dispatch | None) -> SampleRole | None:
        """What a request is that is sent now."""
        if self.judged or self.expected:
            return None
        if self.holder is None:
            return SampleRole.FIRST
        return None if self.holder is follows else SampleRole.CONCURRENT

    def pass_to(self, holder: Dispatch | None) -> None:
        """Let a request have the sample that nobody has."""
        if not self.judged and self.holder is None:
            self.holder = holder

    def give_back(self, dispatch: Dispatch) -> None:
        if self.holder is dispatch and not self.judged:
            self.holder = None

    def expect(self, dispatch: Dispatch) -> None:
        self.expected = self.expected or self.holder is dispatch

    def claim(self, dispatch: Dispatch) -> bool:
        """Whether the verdict on this request is the sample's.

        One that gave the sample back may still claim it, as long as nobody else has taken it.
        """
        if self.judged or not dispatch.is_sample or self.holder not in (None, dispatch):
            return False
        self.holder, self.judged = dispatch, True
        return True


def with_answer(
    record: EngineStartRecord, sample: Sample, dispatch: Dispatch, answer: Answer, now: float
) -> EngineStartRecord:
    """The record after an answer; `sample` is told too."""
    if answer.valid is None:
        sample.give_back(dispatch)
        return record
    # Members of the closed sets become plain texts: not every store takes them.
    known: dict[str, Any] = {}
    if sample.claim(dispatch):
        known["first_answer"] = FirstAnswer.VALID if answer.valid else FirstAnswer.INVALID
        known["first_by"] = dispatch.by
        known["first_fault"] = str(answer.fault) if answer.fault else None
    elif (
        record.first_answer is FirstAnswer.INVALID
        and dispatch.follows is not None
        and dispatch.follows is sample.holder
    ):
        if record.retry_step is None:
            known |= {"retry_step": str(dispatch.step), "retry_valid": answer.valid}
        if answer.valid and record.cured_by is None:
            known["cured_by"] = str(dispatch.step)
    if answer.valid and record.certified_at is None:
        known["certified_at"] = now
    return msgspec.structs.replace(record, **known) if known else record
