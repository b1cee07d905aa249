"""Which attempt a client gets under `deliver: best`."""

from collections.abc import Sequence

from proxy.contract.attempt import Attempt
from proxy.contract.attempts import Settled
from proxy.contract.ladder import Failure, last_step
from proxy.contract.policy import StepKind
from proxy.errors import Fault


def with_best(settled: Settled, attempts: Sequence[Attempt]) -> Settled:
    """The best of the attempts that may be delivered, with the end that its own failures lead to.

    Best: fewest failed gates, then the mildest, well-formed JSON before broken; then the latest.
    An attempt that a gate would have refused is none of them, nor is one that was cut. Other ends
    than `deliver` and `flag` deliver no attempt and stay as they are.
    """
    if not settled.attempt.failures or not settled.end.delivers_reply:
        return settled
    judged = [attempt for attempt in attempts if attempt.failures and not attempt.cut]
    deliverable = [attempt for attempt in judged if end_of(attempt).delivers_reply]
    if not deliverable:
        return settled
    best = min(reversed(deliverable), key=_badness)
    return Settled(best, end_of(best))


def end_of(attempt: Attempt) -> StepKind:
    """The end of an attempt by itself: one that keeps the reply back wins, then `flag`."""
    ends = [last_step(Failure(one.rule, one.verdict)).kind for one in attempt.failures]
    kept_back = [end for end in ends if not end.delivers_reply]
    if kept_back:
        return kept_back[0]
    return StepKind.FLAG if StepKind.FLAG in ends else StepKind.DELIVER


def _badness(attempt: Attempt) -> tuple[int, int]:
    faults = [one.verdict.fault for one in attempt.failures]
    return len(faults), sum(fault is not Fault.SCHEMA_VIOLATION for fault in faults)
