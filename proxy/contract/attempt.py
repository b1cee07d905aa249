"""One attempt: a call of the upstream and what came of it."""

from dataclasses import dataclass, field

from proxy.contract.judging import Judged
from proxy.errors import Fault, UpstreamError
from proxy.gates.base import Result
from proxy.telemetry.outcome import AttemptResult, AttemptStep
from proxy.telemetry.record import AttemptRecord
from proxy.upstream.lane import Headers
from proxy.upstream.sample import Dispatch
from proxy.wire.reply import Reply
from proxy.wire.sse import Event
from proxy.wire.tap import StreamTap


@dataclass(slots=True)
class Attempt:
    """State of one attempt; filled while it runs. Instants are monotonic seconds.

    `waited`: seconds spent waiting for the upstream, and for a client to take what came.
    `cut`: a watch ended the stream early. `is_server_fault`: the upstream itself refused, and not
    for a fault of the client's.
    `events`: the recorded stream of a held reply, without a usage chunk that we asked for.
    """

    number: int
    step: AttemptStep
    began: float
    cold: bool = False
    dispatch: Dispatch | None = None
    status: int = 0
    headers: Headers = ()
    is_stream: bool = False
    body: bytes = b""
    events: list[Event] = field(default_factory=list)
    tap: StreamTap = field(default_factory=StreamTap)
    reply: Reply | None = None
    judged: tuple[Judged, ...] = ()
    error: UpstreamError | None = None
    abandoned: bool = False
    cut: bool = False
    is_server_fault: bool = False
    first_byte: float | None = None
    ended: float = 0.0
    waited: float = 0.0

    @property
    def failures(self) -> list[Judged]:
        """Enforced gates that failed or could not judge."""
        return [
            judged
            for judged in self.judged
            if judged.enforced and judged.verdict.result in (Result.FAIL, Result.ERROR)
        ]

    @property
    def first_response(self) -> float | None:
        """First event with choices; of a reply that is not a stream, its first byte."""
        return self.tap.first_response if self.is_stream else self.first_byte

    @property
    def spent_tokens(self) -> int:
        """Completion tokens; without usage an estimate, the count of recorded events."""
        return self.tap.completion_tokens or len(self.events)

    @property
    def is_error_reply(self) -> bool:
        """The upstream itself refused: a status that is relayed and never judged."""
        return self.status >= 400  # noqa: PLR2004 - RFC 9110 section 15

    def record(self) -> AttemptRecord:
        first = self.first_response if self.error is None and not self.is_error_reply else None
        return AttemptRecord(
            number=self.number,
            step=self.step,
            result=self._result(),
            status=self.status,
            faults=tuple(self._faults()),
            cold=self.cold,
            seconds=max(0.0, self.ended - self.began),
            ttfr_seconds=None if first is None else first - self.began,
            completion_tokens=self.tap.completion_tokens,
            verdicts=tuple(judged.record() for judged in self.judged),
            sample=self.dispatch.role if self.dispatch else None,
        )

    def _result(self) -> AttemptResult:
        if self.abandoned:
            return AttemptResult.ABANDONED
        if self.error is not None or self.is_error_reply:
            return AttemptResult.UPSTREAM_FAULT
        if self.failures:
            return AttemptResult.INVALID
        if any(judged.enforced for judged in self.judged):
            return AttemptResult.VALID
        return AttemptResult.RELAYED

    def _faults(self) -> list[str]:
        found = [str(judged.verdict.fault) for judged in self.judged if judged.verdict.fault]
        if self.error is not None:
            found.append(self.error.code)
        elif self.is_server_fault:
            found.append(str(Fault.UPSTREAM_BAD_REPLY))
        return found
