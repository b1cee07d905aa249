"""What one request has left of its time to wait for an engine that does not accept its calls."""

from proxy.contract.attempt import Attempt
from proxy.contract.job import Job, Readiness
from proxy.contract.plan import LOOK_UP
from proxy.contract.upstream_faults import was_accepted


class Patience:
    """Counts the calls of one request that were not accepted, and the seconds it waited.

    All its waits share `lanes.main.ready_wait_seconds`, the one before its admission included, and
    end with the policy's deadline.
    """

    __slots__ = ("_calls", "_deadline", "_job", "_left", "_readiness")

    def __init__(self, job: Job, readiness: Readiness, deadline: float) -> None:
        self._job = job
        self._readiness = readiness
        self._deadline = deadline
        self._left = readiness.wait_seconds - job.arrival.ready_seconds
        self._calls = 0

    async def outlasts(self, attempt: Attempt) -> bool:
        """Whether the call of an attempt may be repeated, as soon as the engine is ready.

        False at once for a call that was accepted. Nothing may have been sent to the client.
        """
        if was_accepted(attempt):
            return False
        self._calls += 1
        now = self._job.parts.clock.now
        began = now()
        try:
            return await self._readiness.wait_again(
                self._calls, min(self._left, self._deadline - began)
            )
        finally:
            waited = now() - began
            self._left -= waited
            attempt.waited += waited


def patience_for(job: Job, deadline: float) -> Patience | None:
    """None where the settings want no waiting; look-ups never wait."""
    readiness = job.parts.readiness
    if readiness is None or not readiness.wait_seconds or job.plan is LOOK_UP:
        return None
    return Patience(job, readiness, deadline)
