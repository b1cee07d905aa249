"""Response headers that say what the gate did."""

from collections.abc import Sequence
from typing import Final

from proxy.contract.attempt import Attempt
from proxy.contract.job import Job
from proxy.telemetry.outcome import Outcome

# The official SDKs resend 408, 409, 429 and 5xx by themselves unless told not to.
NO_RETRY: Final = ("x-should-retry", "false")


def gate_headers(job: Job, outcome: Outcome, attempts: Sequence[Attempt]) -> list[tuple[str, str]]:
    """`x-sluicegate-*` for replies that were not streamed, or were held."""
    now = job.parts.clock.now()
    headers = [
        ("x-sluicegate-outcome", str(outcome)),
        ("x-sluicegate-attempts", str(len(attempts))),
        ("x-sluicegate-overhead-ms", f"{overhead_seconds(job, attempts, now) * 1000:.2f}"),
    ]
    if job.policy is not None:
        headers.append(("x-sluicegate-policy", job.policy.label))
    last = attempts[-1] if attempts else None
    if last is not None and last.judged:
        headers.append(("x-sluicegate-verdicts", ", ".join(_verdicts(last))))
        if last.first_response is not None:
            held = max(0.0, now - last.first_response)
            headers.append(("x-sluicegate-held-ms", f"{held * 1000:.2f}"))
    return headers


def overhead_seconds(job: Job, attempts: Sequence[Attempt], now: float) -> float:
    """Our own time: all of it but the waits for admission and for the upstream."""
    waited = sum(attempt.waited for attempt in attempts)
    arrival = job.arrival
    return max(0.0, now - arrival.received_at - arrival.queue_seconds - waited)


def _verdicts(attempt: Attempt) -> list[str]:
    return [
        f"{judged.verdict.gate}={judged.verdict.result}"
        + (f"({judged.verdict.fault})" if judged.verdict.fault else "")
        for judged in attempt.judged
    ]
