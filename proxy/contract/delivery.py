"""What a client gets of a settled reply: the upstream's bytes, repaired ones, a text, an error."""

from collections.abc import Sequence
from dataclasses import replace

from proxy.contract.attempt import Attempt
from proxy.contract.attempts import Settled
from proxy.contract.headers import NO_RETRY, gate_headers
from proxy.contract.job import Client, Job
from proxy.contract.ladder import STRICT_JSON
from proxy.contract.policy import StepKind
from proxy.contract.reviewing import deciding, flag
from proxy.contract.upstream_faults import client_status
from proxy.errors import BadReply, GateRejected, UpstreamError
from proxy.gates.base import Repaired, Result
from proxy.telemetry.outcome import Outcome
from proxy.wire.fallback import Head, body_with_text, events_with_text
from proxy.wire.reply import Choice, Reply
from proxy.wire.rewrite import NewContent, body_with_content, events_with_content
from proxy.wire.sse import event
from proxy.wire.tap import MalformedBodyReply, read_body_head

_SERVER_ERROR = 500
_OK = 200
_OUTCOMES = {
    StepKind.REJECT: Outcome.REJECTED,
    StepKind.PARK: Outcome.PARKED,
    StepKind.FLAG: Outcome.FLAGGED,
    StepKind.FALLBACK: Outcome.REPAIRED,
}
_MOST_CHOICES = 128  # the API's own limit for `n`


def rejection(settled: Settled, attempts: Sequence[Attempt]) -> GateRejected:
    """The error for a reply that a gate refused; it names gate, reason, place and attempts."""
    judged = deciding(settled)
    verdict, count = judged.verdict, len(attempts)
    return GateRejected(
        f"The reply failed the gate {judged.rule.gate.name} after {count} "
        f"attempt{'s' if count > 1 else ''}: {verdict.reason}",
        code=verdict.fault,
        param=verdict.place or None,
    )


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
    """How a request ended whose upstream replied.

    `fallback` ends as `repaired`: the client gets a sound reply that is not what the upstream sent.
    It is not `flagged`, for nobody is asked to look at it, and not `rejected`, which is an error.
    """
    if attempt.is_error_reply:
        server = client_status(attempt) >= _SERVER_ERROR
        return Outcome.UPSTREAM_FAILED if server else Outcome.REFUSED
    if end in _OUTCOMES:
        return _OUTCOMES[end]
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


def without_taking_back(settled: Settled) -> Settled:
    """The end of a reply that has begun to leave: another text cannot take its place."""
    if settled.end is StepKind.FALLBACK:
        return replace(settled, end=StepKind.REJECT)
    return settled


def with_fitting_fallback(job: Job, settled: Settled) -> Settled:
    """Promised JSON is not answered by a text that breaks the promise: that reply is rejected."""
    if settled.end is not StepKind.FALLBACK:
        return settled
    text = deciding(settled).rule.fallback_text
    reply = Reply((Choice(0, text, finish_reason="stop"),))
    promised = (rule.gate for rule in job.plan.enforced if rule.gate.name == STRICT_JSON)
    if all(gate.judge(reply, job.request).result is not Result.FAIL for gate in promised):
        return settled
    return replace(settled, end=StepKind.REJECT)


async def deliver(
    job: Job,
    client: Client,
    settled: Settled,
    attempts: Sequence[Attempt],
    outcome: Outcome,
    *,
    sent: int = 0,
) -> None:
    """Send a held reply: as recorded, with the repaired content, or with a fallback's text.

    A flagged one leaves when the review queue, where there is one, has it. `sent`: events of it
    that are out already; what was repaired comes after them.
    """
    attempt = settled.attempt
    if settled.end is StepKind.FALLBACK:
        await _deliver_fallback(job, client, settled, attempts, outcome)
        return
    if settled.end is StepKind.FLAG:
        await flag(job, settled)
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
    await client.end(b"".join(events[sent:]))


async def _deliver_fallback(
    job: Job, client: Client, settled: Settled, attempts: Sequence[Attempt], outcome: Outcome
) -> None:
    """The text of the gate that led here, as the kind of reply that the client asked for."""
    attempt, arrival = settled.attempt, job.arrival
    text = deciding(settled).rule.fallback_text
    head = Head(f"chatcmpl-{arrival.id}", int(arrival.received_unix), job.request.model)
    indexes = _indexes_of(job, attempt)
    kind = "text/event-stream; charset=utf-8" if job.request.stream else "application/json"
    theirs = [header for header in attempt.headers if header[0].lower() != "content-type"]
    own = gate_headers(job, outcome, attempts, attempt)
    headers = [("content-type", kind), *theirs, *own]
    if not job.request.stream:
        await client.reply(_OK, headers, body_with_text(attempt.body, head, text, indexes))
        return
    if not client.started:
        await client.start(_OK, headers)
    await client.end(b"".join(events_with_text(attempt.events, head, text, indexes)))


def _indexes_of(job: Job, attempt: Attempt) -> list[int]:
    """The choices that came, and those that were asked for: a reply may have been cut before."""
    asked = range(min(max(job.request.n, 1), _MOST_CHOICES))
    came = attempt.reply.choices if attempt.reply else ()
    return sorted({*asked, *(choice.index for choice in came)})
