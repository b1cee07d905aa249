"""What the engine starts of a lane say together: how often the first strict-JSON answer failed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from proxy.ledger.interval import wilson_interval
from proxy.telemetry.engine_start import EngineStartRecord, FirstAnswer
from proxy.telemetry.outcome import AttemptStep

# Steps that send the identical request once more.
_IDENTICAL: Final = frozenset({AttemptStep.COLD, AttemptStep.SAME, AttemptStep.UPSTREAM_FAULT})


def is_clean(start: EngineStartRecord) -> bool:
    """A clean sample: the engine had not worked before, and its first answer was judged."""
    return start.untouched is True and start.first_answer is not FirstAnswer.UNKNOWN


@dataclass(frozen=True, slots=True)
class Samples:
    """The clean samples of one lane. `others`: starts that are none.

    `retried`: invalid ones followed by the identical request, `cured`: of these, the valid ones.
    """

    lane: str
    count: int
    invalid: int
    retried: int
    cured: int
    others: int

    @property
    def rate(self) -> float | None:
        return self.invalid / self.count if self.count else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the rate."""
        return wilson_interval(self.invalid, self.count)


def samples_of(starts: Sequence[EngineStartRecord]) -> list[Samples]:
    """One for each lane, by name."""
    lanes = sorted({start.lane for start in starts})
    return [_of_lane(lane, [start for start in starts if start.lane == lane]) for lane in lanes]


def _of_lane(lane: str, starts: Sequence[EngineStartRecord]) -> Samples:
    clean = [start for start in starts if is_clean(start)]
    invalid = [start for start in clean if start.first_answer is FirstAnswer.INVALID]
    retried = [start for start in invalid if start.retry_step in _IDENTICAL]
    return Samples(
        lane,
        count=len(clean),
        invalid=len(invalid),
        retried=len(retried),
        cured=sum(start.retry_valid is True for start in retried),
        others=len(starts) - len(clean),
    )
