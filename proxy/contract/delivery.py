"""What a client gets of a settled reply: the upstream's own bytes, repaired ones, or an error."""

from collections.abc import Sequence

from proxy.contract.attempt import Attempt
from proxy.contract.attempts import Settled
from proxy.contract.headers import NO_RETRY, gate_headers
from proxy.contract.job import Client, Job
from proxy.contract.policy import StepKind
from proxy.contract.upstream_faults import client_status
from proxy.errors import Fault, GateRejected
from proxy.gates.base import Repaired
from proxy.telemetry.outcome import Outcome
from proxy.wire.rewrite import NewContent, body_with_content, events_with_content

_SERVER_ERROR = 500


def rejection(settled: Settled, attempts: Sequence[Attempt]) -> GateRejected:
    """The error for a reply that a gate refused; it names gate, reason, place and attempts."""
    verdict = settled.attempt.failures[0].verdict
    count = len(attempts)
    return GateRejected(
        f"The reply failed the gate {verdict.gate} after {count} "
        f"attempt{'s' if count > 1 else ''}: {verdict.reason}",
        code=verdict.fault or Fault.SCHEMA_VIOLATION,
        param=verdict.place or None,
    )


def repairs_of(attempt: Attempt) -> dict[int, Repaired]:
    """Repaired content by choice, from the enforced gates that passed."""
    merged: dict[int, Repaired] = {}
    for judged in attempt.judged:
        if judged.enforced:
            merged |= judged.verdict.repaired
    return merged


def outcome_of(attempt: Attempt, end: StepKind) -> Outcome:
    """How a request ended whose upstream replied."""
    if attempt.is_error_reply:
        server = client_status(attempt) >= _SERVER_ERROR
        return Outcome.UPSTREAM_FAILED if server else Outcome.REFUSED
    if end is StepKind.REJECT:
        return Outcome.REJECTED
    return Outcome.REPAIRED if repairs_of(attempt) else Outcome.PASSED


async def relay_error_reply(
    job: Job, client: Client, attempts: Sequence[Attempt], outcome: Outcome
) -> None:
    """Hand on the upstream's own refusal: status, body and headers such as retry-after."""
    attempt = attempts[-1]
    headers = [*attempt.headers, *gate_headers(job, outcome, attempts), NO_RETRY]
    await client.reply(client_status(attempt), headers, attempt.body)


async def deliver(
    job: Job, client: Client, settled: Settled, attempts: Sequence[Attempt], outcome: Outcome
) -> None:
    """Send a held reply: as recorded, or with the repaired content in its place."""
    attempt = settled.attempt
    contents = {
        index: NewContent(repaired.content, clear_reasoning=repaired.clears_reasoning)
        for index, repaired in repairs_of(attempt).items()
    }
    if not attempt.is_stream:
        body = body_with_content(attempt.body, contents) if contents else attempt.body
        headers = [*attempt.headers, *gate_headers(job, outcome, attempts)]
        await client.reply(attempt.status, headers, body)
        return
    if not client.started:
        headers = [*attempt.headers, *gate_headers(job, outcome, attempts)]
        await client.start(attempt.status, headers)
    if contents:
        events = events_with_content(attempt.events, contents)
    else:
        events = [event.raw for event in attempt.events]
    await client.end(b"".join(events))
