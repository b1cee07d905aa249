"""Puts a contract set to a server: each case several times, bare and through a policy's gates.

The bare answer is also the first attempt behind the gates, so that before and after differ by what
the gates did and by nothing else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from typing_extensions import override

from proxy.bench.contract_cases import ContractCase
from proxy.bench.contract_reading import AnswerReader, Miss, Reading
from proxy.bench.contract_server import ContractServer, RawAnswer, UnusableServer
from proxy.contract.in_process import InProcessGate, Served
from proxy.errors import UpstreamError
from proxy.telemetry.outcome import Outcome
from proxy.upstream.lane import Call, Lane, UpstreamReply
from proxy.upstream.whole_reply import WholeReply
from proxy.wire.reply import MalformedReply, read_reply

_OUTCOME: Final = "x-sluicegate-outcome"
_ATTEMPTS: Final = "x-sluicegate-attempts"
_KEPT_BACK: Final = frozenset({Outcome.PARKED, Outcome.REJECTED})
# So many trials without any answer in a row, and the server is held to be gone.
_PATIENCE: Final = 3


@dataclass(frozen=True, slots=True)
class Measured:
    """One answer, judged; behind gates with the outcome and how many calls it took."""

    reading: Reading
    outcome: str = ""
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Trial:
    """One case in one run. `before` is None where the server is itself a gate."""

    case: ContractCase
    run: int
    before: Measured | None
    after: Measured


@dataclass(slots=True)
class ContractRun:
    """A measurement; `trials` holds what is there already, whatever becomes of the rest.

    `lane`: the same server, for attempts after the first. `on_trial` is called after each trial.
    """

    server: ContractServer
    lane: Lane
    gate: InProcessGate
    reader: AnswerReader
    model: str
    on_trial: Callable[[Trial], None]
    trials: list[Trial] = field(default_factory=list)

    async def run(self, cases: Sequence[ContractCase], runs: int) -> None:
        """All cases, then all again. Raises `UnusableServer` where no more answers come."""
        in_vain = 0
        for run in range(1, runs + 1):
            for case in cases:
                answer = await self._ask(case.body(self.model, run))
                self._refuse_hopeless(answer)
                trial = await self._trial(case, run, answer)
                self.trials.append(trial)
                self.on_trial(trial)
                in_vain = in_vain + 1 if _is_missing(trial.after) else 0
                if in_vain == _PATIENCE:
                    why = answer.refusal if isinstance(answer, RawAnswer) else str(answer)
                    raise UnusableServer(f"No answer {_PATIENCE} times in a row: {why}")

    async def _ask(self, body: bytes) -> RawAnswer | UpstreamError:
        try:
            return await self.server.ask(body)
        except UpstreamError as error:
            return error

    def _refuse_hopeless(self, answer: RawAnswer | UpstreamError) -> None:
        """A server that refuses the very first request would refuse them all."""
        if self.trials or isinstance(answer, UpstreamError) or _OUTCOME in answer.headers:
            return
        if not answer.is_ok:
            raise UnusableServer(f"The server refuses the requests of this set, {answer.refusal}")

    async def _trial(
        self, case: ContractCase, run: int, answer: RawAnswer | UpstreamError
    ) -> Trial:
        if isinstance(answer, RawAnswer) and _OUTCOME in answer.headers:
            outcome = answer.headers[_OUTCOME]
            attempts = int(answer.headers.get(_ATTEMPTS, "1"))
            return Trial(case, run, None, self._measured(case, answer.body, outcome, attempts))
        before = self._bare(case, answer)
        lane = _FirstKnown(self.lane, answer)
        served = await self.gate.serve(case.body(self.model, run), lane)
        return Trial(case, run, before, self._after(case, served))

    def _bare(self, case: ContractCase, answer: RawAnswer | UpstreamError) -> Measured:
        if isinstance(answer, UpstreamError) or not answer.is_ok:
            return Measured(_missing())
        return self._measured(case, answer.body, "", 1)

    def _after(self, case: ContractCase, served: Served) -> Measured:
        return self._measured(case, served.body, str(served.outcome), len(served.attempts))

    def _measured(self, case: ContractCase, body: bytes, outcome: str, attempts: int) -> Measured:
        if outcome in _KEPT_BACK:
            return Measured(Reading((str(Miss.KEPT_BACK),)), outcome, attempts)
        try:
            choices = read_reply(body).choices
        except MalformedReply:
            choices = ()
        reading = self.reader.read(case, choices[0]) if choices else _missing()
        return Measured(reading, outcome, attempts)


def _missing() -> Reading:
    return Reading((str(Miss.NO_ANSWER),))


def _is_missing(measured: Measured) -> bool:
    return Miss.NO_ANSWER in measured.reading.faults


class _FirstKnown(Lane):
    """The server's lane, whose first chat answer is known already."""

    def __init__(self, lane: Lane, answer: RawAnswer | UpstreamError) -> None:
        self._lane = lane
        self._answer: RawAnswer | UpstreamError | None = answer

    @property
    @override
    def name(self) -> str:
        return self._lane.name

    @property
    @override
    def speaks_vllm(self) -> bool:
        return self._lane.speaks_vllm

    @override
    async def open(self, call: Call) -> UpstreamReply:
        answer, self._answer = self._answer, None
        if isinstance(answer, UpstreamError):
            raise answer
        if answer is not None:
            return WholeReply(answer.status, answer.body)
        return await self._lane.open(call)

    @override
    async def close(self) -> None:
        """The lane behind it is its owner's to close."""
