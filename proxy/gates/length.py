"""The gate `length`: texts of a reply keep the lengths that the policy sets."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from typing_extensions import override

from proxy.errors import Fault
from proxy.gates.base import Gate, Repair, Repaired, Result, Verdict, Watch
from proxy.gates.length_findings import verdict_on
from proxy.gates.length_options import NAME, LengthOptions
from proxy.gates.length_reading import LengthReader, LengthReading
from proxy.gates.length_targets import FieldsElsewhere, TargetedGate, left
from proxy.gates.length_tokens import TokenQuestion
from proxy.gates.length_watch import LengthWatch, watched_limits
from proxy.gates.text_targets import WHOLE, WHOLE_NAME, is_judged
from proxy.gates.text_trim import SentenceTrimmer
from proxy.gates.text_units import TextMeter
from proxy.wire.reply import Reply
from proxy.wire.request import Request

# What is stripped, counted and judged in about three milliseconds, Markdown included.
LIGHT_CHARACTERS: Final = 2000
_MOST_ASKED: Final = 32
_TOO_LONG: Final = "The reply is too long to be judged beside running streams."


def light_length_gate(options: LengthOptions) -> Gate:
    """The gate for use beside running streams."""
    if all(target.of != WHOLE for target in options.targets):
        return FieldsElsewhere(options.targets)
    return LengthGate(options, LIGHT_CHARACTERS)


class LengthGate(TargetedGate):
    """Judges the texts of every choice.

    `most_characters`: longer replies, and trimming, are left to a gate in another process.
    """

    def __init__(self, options: LengthOptions, most_characters: int | None = None) -> None:
        super().__init__(options.targets)
        meter = TextMeter()
        self._options = options
        self._most_characters = most_characters
        self._reader = LengthReader(options.targets, meter, options.strip)
        self._trimmer = SentenceTrimmer(meter) if options.trim == "sentence" else None
        self._watched = watched_limits(options, meter) if self._trimmer is None else ()

    @override
    def judge(self, reply: Reply, request: Request) -> Verdict:
        if reply.error is not None or not self.applies(request):
            return Verdict(NAME, Result.SKIP)
        if self._is_too_long(reply):
            return left(_TOO_LONG)
        is_json = self._is_json(request)
        readings = [
            self._reader.read(choice, is_json=is_json)
            for choice in reply.choices
            if is_judged(choice)
        ]
        failing = [reading for reading in readings if reading.findings]
        if failing:
            return self._fail(failing)
        return _ask([reading for reading in readings if reading.texts])

    @override
    def watch(self, request: Request) -> Watch | None:
        """None where a call of a tool may yet follow, or what is too long might be trimmed."""
        if not self._watched or request.tools or self._is_json(request):
            return None
        return LengthWatch(self._watched, self._options.strip)

    def _is_too_long(self, reply: Reply) -> bool:
        characters = sum(len(choice.content or "") for choice in reply.choices)
        return self._most_characters is not None and characters > self._most_characters

    def _fail(self, failing: Sequence[LengthReading]) -> Verdict:
        verdict = verdict_on(failing[0].findings)
        if self._trimmer is None or verdict.fault is not Fault.TOO_LONG:
            return verdict
        if self._most_characters is not None:
            return left(_TOO_LONG)
        trimmed = {
            reading.choice.index: Repaired(text, (Repair.TRIM_SENTENCE,))
            for reading in failing
            if (text := self._trimmed(reading, self._trimmer))
        }
        return replace(verdict, last_resort=trimmed if len(trimmed) == len(failing) else {})

    def _trimmed(self, reading: LengthReading, trimmer: SentenceTrimmer) -> str | None:
        """A whole text's beginning that keeps all limits; fields of JSON are not trimmed."""
        faults = {finding.fault for finding in reading.findings}
        is_whole = all(finding.name == WHOLE_NAME for finding in reading.findings)
        if faults != {Fault.TOO_LONG} or not is_whole:
            return None
        return trimmer.trim(
            reading.choice.content or "",
            partial(self._reader.holds, minimum=False),
            partial(self._reader.holds, minimum=True),
        )


def _ask(readings: Sequence[LengthReading]) -> Verdict:
    """The verdict on texts of which nothing is wrong so far."""
    asked = tuple(one for reading in readings for one in reading.asked)
    if len(asked) > _MOST_ASKED:
        reason = f"The reply has {len(asked)} texts whose tokens count; at most {_MOST_ASKED} are."
        return Verdict(NAME, Result.ERROR, reason=reason)
    question = TokenQuestion(tuple(one.found.text for one in asked), asked) if asked else None
    return Verdict(NAME, Result.PASS if readings else Result.SKIP, question=question)
