"""Response headers that say what the gate did."""

from collections.abc import Sequence
from typing import Final

from proxy.contract.attempt import Attempt
from proxy.contract.job import Job
from proxy.telemetry.outcome import Outcome

# The official SDKs resend 408, 409, 429 and 5xx by themselves unless told not to.
NO_RETRY: Final = ("x-should-retry", "false")


def gate_headers(
    job: Job, outcome: Outcome, attempts: Sequence[Attempt], decided: Attempt | None
) -> list[tuple[str, str]]:
    """`x-sluicegate-*` for replies that were not streamed, or were held.

    `decided`: the attempt whose verdicts count; not always the last one.
    """
    now = job.parts.clock.now()
    headers = [
        ("x-sluicegate-outcome", str(outcome)),
        ("x-sluicegate-attempts", str(len(attempts))),
        ("x-sluicegate-overhead-ms", f"{overhead_seconds(job, attempts, now) * 1000:.2f}"),
    ]
    if job.policy is not None:
        headers.append(("x-sluicegate-policy", job.policy.label))
    if decided is not None and decided.judged:
        headers.append(("x-sluicegate-verdicts", ", ".join(_verdicts(decided))))
        if decided.first_response is not None:
            held = max(0.0, now - decided.first_response)
            headers.append(("x-sluicegate-held-ms", f"{held * 1000:.2f}"))
    return headers


def overhead_seconds(job: Job, attempts: Sequence[Attempt], now: float) -> float:
    """Our own time: all of it but the waits for body, admission, upstream and a slow client."""
    waited = sum(attempt.waited for attempt in attempts)
    waited += sum(judged.waited for attempt in attempts for judged in attempt.judged)
    arrival = job.arrival
    waited += arrival.read_seconds + arrival.queue_seconds
    return max(0.0, now - arrival.received_at - waited)


def _verdicts(attempt: Attempt) -> list[str]:
    return [
        f"{judged.rule.gate.name}={judged.verdict.result}"
        + (f"({judged.verdict.fault})" if judged.verdict.fault else "")
        for judged in attempt.judged
    ]
