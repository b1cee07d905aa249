"""The last thing tried for a reply that failed: what its gates offer when no attempt is left."""

from collections.abc import Mapping
from dataclasses import replace

from proxy.contract.attempts import Settled
from proxy.contract.job import Job
from proxy.contract.judging import Judged
from proxy.contract.policy import StepKind
from proxy.contract.repaired import with_repairs
from proxy.gates.base import Repaired, Result


async def with_last_resort(job: Job, settled: Settled) -> Settled:
    """The reply repaired, if every failed gate has a way and no gate objects to what comes of it.

    It is judged again in full: a text that was cut may lack what another gate wants.
    """
    attempt = settled.attempt
    failures = attempt.failures
    if not failures or attempt.cut or attempt.reply is None:
        return settled
    if not all(judged.verdict.last_resort for judged in failures):
        return settled
    resorts: dict[int, Repaired] = {}
    for judged in failures:
        resorts.update(judged.verdict.last_resort)
    reply = with_repairs(attempt.reply, resorts)
    judged_again = await job.parts.judge.judge_all(job.plan, reply, job.request)
    repaired = _with_repairs_of(judged_again, {one.rule.gate.name: one for one in failures})
    before, attempt.judged = attempt.judged, repaired
    if attempt.failures:
        attempt.judged = before
        return settled
    return Settled(attempt, StepKind.DELIVER)


def _with_repairs_of(
    judged: tuple[Judged, ...], failed: Mapping[str, Judged]
) -> tuple[Judged, ...]:
    """The new verdicts; those of gates that had failed bear what was repaired for them."""
    return tuple(
        replace(one, verdict=replace(one.verdict, repaired=earlier.verdict.last_resort))
        if (earlier := failed.get(one.rule.gate.name)) and one.verdict.result is Result.PASS
        else one
        for one in judged
    )
