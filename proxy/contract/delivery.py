"""What a client gets of a settled reply: the upstream's own bytes, repaired ones, or an error."""

from collections.abc import Sequence

from proxy.contract.attempt import Attempt
from proxy.contract.attempts import Settled
from proxy.contract.headers import NO_RETRY, gate_headers
from proxy.contract.job import Client, Job
from proxy.contract.judging import Judged
from proxy.contract.ladder import Failure, last_step
from proxy.contract.policy import StepKind
from proxy.contract.upstream_faults import client_status
from proxy.errors import BadReply, GateRejected, UpstreamError
from proxy.gates.base import Repaired
from proxy.telemetry.outcome import Outcome
from proxy.wire.rewrite import NewContent, body_with_content, events_with_content
from proxy.wire.sse import event
from proxy.wire.tap import MalformedBodyReply, read_body_head

_SERVER_ERROR = 500


def rejection(settled: Settled, attempts: Sequence[Attempt]) -> GateRejected:
    """The error for a reply that a gate refused; it names gate, reason, place and attempts."""
    judged = _deciding(settled)
    verdict, count = judged.verdict, len(attempts)
    return GateRejected(
        f"The reply failed the gate {judged.rule.gate.name} after {count} "
        f"attempt{'s' if count > 1 else ''}: {verdict.reason}",
        code=verdict.fault,
        param=verdict.place or None,
    )


def _deciding(settled: Settled) -> Judged:
    """The first failed gate that leads to this end; another's failure might be delivered."""
    failures = settled.attempt.failures
    for judged in failures:
        if last_step(Failure(judged.rule, judged.verdict)).kind is settled.end:
            return judged
    return failures[0]


def repairs_of(attempt: Attempt) -> dict[int, Repaired]:
    """What is repaired, by choice: the repairs of all enforced gates that passed."""
    merged: dict[int, Repaired] = {}
    for judged in attempt.judged:
        if judged.enforced:
            for index, repaired in judged.verdict.repaired.items():
                known = merged.get(index)
                merged[index] = repaired if known is None else known.merged_with(repaired)
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
    """Hand on the upstream's own refusal: status, body and headers such as retry-after.

    After a keep-alive has begun the reply it becomes an error event.
    """
    attempt = attempts[-1]
    if client.started:
        await client.end(event(_error_document(attempt)))
        return
    own = [*gate_headers(job, outcome, attempts, attempt), NO_RETRY]
    theirs = [header for header in attempt.headers if header[0] != NO_RETRY[0]]
    await client.reply(client_status(attempt), [*theirs, *own], attempt.body)


def _error_document(attempt: Attempt) -> bytes:
    """The upstream's error as clients find it in a stream: an object with `error`, else ours."""
    try:
        if read_body_head(attempt.body)[2]:
            return attempt.body
    except MalformedBodyReply:
        pass
    return UpstreamError(f"The upstream refused with status {attempt.status}.").body()


async def deliver(
    job: Job, client: Client, settled: Settled, attempts: Sequence[Attempt], outcome: Outcome
) -> None:
    """Send a held reply: as recorded, or with the repaired content in its place."""
    attempt = settled.attempt
    contents = {
        index: NewContent(
            repaired.content,
            clear_reasoning=repaired.clears_reasoning,
            arguments=repaired.arguments,
        )
        for index, repaired in repairs_of(attempt).items()
    }
    if not attempt.is_stream:
        if client.started:
            raise BadReply("The upstream answered with a whole reply where a stream was asked for.")
        body = body_with_content(attempt.body, contents) if contents else attempt.body
        headers = [*attempt.headers, *gate_headers(job, outcome, attempts, attempt)]
        await client.reply(attempt.status, headers, body)
        return
    if not client.started:
        headers = [*attempt.headers, *gate_headers(job, outcome, attempts, attempt)]
        await client.start(attempt.status, headers)
    if contents:
        events = events_with_content(attempt.events, contents)
    else:
        events = [recorded.raw for recorded in attempt.events]
    await client.end(b"".join(events))
