"""Tells the review queue, where there is one, of replies that are flagged or kept back."""

import secrets
from collections.abc import Sequence

from proxy.contract.attempt import Attempt
from proxy.contract.attempts import Settled
from proxy.contract.job import Job
from proxy.contract.judging import Judged
from proxy.contract.ladder import Failure, last_step
from proxy.contract.reviews import Flag, Texts
from proxy.errors import HeldForReview

_ID_BYTES = 12


def deciding(settled: Settled) -> Judged:
    """The first failed gate that leads to this end; another's failure might be delivered."""
    failures = settled.attempt.failures
    for judged in failures:
        if last_step(Failure(judged.rule, judged.verdict)).kind is settled.end:
            return judged
    return failures[0]


async def flag(job: Job, settled: Settled) -> None:
    """Have the queue keep the flag of a reply that is about to leave."""
    if job.parts.reviews is not None:
        await job.parts.reviews.flag(_flag_of(job, settled))


async def park(job: Job, settled: Settled, attempts: Sequence[Attempt]) -> HeldForReview:
    """Have the queue keep a reply that the client does not get, and make the client's error.

    Without a queue nobody has the reply afterwards: it is refused and counted.
    """
    review_id = f"rv-{secrets.token_hex(_ID_BYTES)}"
    if job.parts.reviews is not None:
        await job.parts.reviews.park(review_id, _flag_of(job, settled))
    judged = deciding(settled)
    count = len(attempts)
    return HeldForReview(
        f"The reply is held back for review: it failed the gate {judged.rule.gate.name} after "
        f"{count} attempt{'s' if count > 1 else ''}: {judged.verdict.reason}",
        param=judged.verdict.place or None,
        review_id=review_id,
    )


def _flag_of(job: Job, settled: Settled) -> Flag:
    judged = deciding(settled)
    policy = job.policy
    return Flag(
        request_id=job.arrival.id,
        attempt=settled.attempt.number,
        policy=policy.label if policy else "",
        gate=judged.rule.gate.name,
        fault=judged.verdict.fault,
        place=judged.verdict.place,
        texts=_texts(job, settled) if policy and policy.review.stores_bodies else None,
    )


def _texts(job: Job, settled: Settled) -> Texts:
    reply = settled.attempt.reply
    return Texts(job.request.body, reply.choices if reply else (), deciding(settled).verdict.reason)
