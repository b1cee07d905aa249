"""The ladder of one request: what follows an attempt that failed. Pure decisions, no I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from proxy.contract.policy import Attempts, Rule, Step, StepKind
from proxy.errors import Fault
from proxy.gates.base import Result, Verdict
from proxy.telemetry.outcome import AttemptStep

STRICT_JSON: Final = "strict_json"

_CUT_BY_LIMIT: Final = frozenset({Fault.TRUNCATED, Fault.CALL_TRUNCATED})
_AGAIN: Final = {
    StepKind.SAME: AttemptStep.SAME,
    StepKind.VARY: AttemptStep.VARY,
    StepKind.REASK: AttemptStep.REASK,
}
# Of the steps that several failed gates ask for, the first of this order is taken.
_WEIGHT: Final = (
    StepKind.REJECT,
    StepKind.PARK,
    StepKind.FALLBACK,
    StepKind.ESCALATE,
    StepKind.REASK,
    StepKind.VARY,
    StepKind.SAME,
    StepKind.FLAG,
    StepKind.DELIVER,
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A rule whose gate failed or could not judge, with its verdict."""

    rule: Rule
    verdict: Verdict


class Ladder:
    """Counts attempts, tokens and time of one request and says what comes next."""

    def __init__(self, attempts: Attempts, deadline: float) -> None:
        self._attempts = attempts
        self._deadline = deadline
        self._positions: dict[tuple[str, str], int] = {}
        self._cold_spent = False
        self._fault_spent = False
        self._made = 1
        self._extra_tokens = 0

    def after_upstream_fault(self, now: float) -> AttemptStep | None:
        """Whether the call is repeated after an upstream fault: once, if the policy says so."""
        if not self.has_fault_attempt(now):
            return None
        self._fault_spent = True
        self._made += 1
        return AttemptStep.UPSTREAM_FAULT

    def has_fault_attempt(self, now: float) -> bool:
        """Whether an upstream fault would be answered by one more attempt."""
        return self._attempts.upstream_faults and not self._fault_spent and self._has_room(now)

    def after_failures(
        self,
        failures: Sequence[Failure],
        *,
        cold: bool,
        tokens: int,
        now: float,
        may_retry: bool = True,
    ) -> AttemptStep | StepKind:
        """The next step after failed gates: another attempt, or how the request ends.

        `tokens`: completion tokens that the failed attempt cost. `cold`: the engine was cold when
        that attempt was dispatched; then strict JSON first repeats the identical request.
        `may_retry`: the client has got nothing yet.
        """
        self._extra_tokens += tokens
        if (
            not may_retry
            or not self._has_room(now)
            or any(_is_final(failure) for failure in failures)
        ):
            return _weightiest([last_step(failure) for failure in failures]).kind
        if cold and self._may_repeat_cold(failures):
            self._cold_spent = True
            self._made += 1
            return AttemptStep.COLD
        step = _weightiest([self._climb(failure) for failure in failures])
        again = _AGAIN.get(step.kind)
        if again is None:
            return step.kind
        self._made += 1
        return again

    def _has_room(self, now: float) -> bool:
        return (
            self._made < self._attempts.max_attempts
            and now < self._deadline
            and self._extra_tokens <= self._attempts.max_extra_tokens
        )

    def _may_repeat_cold(self, failures: Sequence[Failure]) -> bool:
        wanted = self._attempts.cold and not self._cold_spent
        return wanted and any(failure.verdict.gate == STRICT_JSON for failure in failures)

    def _climb(self, failure: Failure) -> Step:
        """The step that is due; each ladder of a gate is climbed by itself."""
        key = failure.rule.gate.name, failure.verdict.ladder
        position = self._positions.get(key, 0)
        self._positions[key] = position + 1
        steps = failure.rule.ladder_of(failure.verdict)
        return steps[min(position, len(steps) - 1)]


def _is_final(failure: Failure) -> bool:
    """A gate that broke would break again, and the same token limit cuts the reply again."""
    return failure.verdict.result is Result.ERROR or failure.verdict.fault in _CUT_BY_LIMIT


def last_step(failure: Failure) -> Step:
    """The end that a failure's rule leads to."""
    if failure.verdict.result is Result.ERROR:
        return failure.rule.on_error
    return failure.rule.ladder_of(failure.verdict)[-1]


def _weightiest(steps: Sequence[Step]) -> Step:
    return min(steps, key=lambda step: _WEIGHT.index(step.kind))
