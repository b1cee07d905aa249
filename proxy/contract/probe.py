"""The probe of a lane: strict-JSON requests of our own on every new engine start.

It runs beside the traffic and decides one thing: whether the present engine start may be used.
"""

import asyncio
import logging
from collections.abc import Callable
from enum import StrEnum
from typing import Final

from proxy.contract.job import Parts
from proxy.contract.probe_answer import ProbeAnswer, ProbeCall, ask, strict_rule
from proxy.contract.probe_options import OnFail, ProbeOptions
from proxy.contract.served_model import ServedModel, ask_served_model
from proxy.errors import Fault, Unreachable, UpstreamError
from proxy.telemetry.outcome import ProbeResult
from proxy.upstream.engine import EngineState
from proxy.upstream.sample import Dispatch

_LOG: Final = logging.getLogger(__name__)
_NUMBERS: Final = 100_000


class ProbeStatus(StrEnum):
    """How the probe of the present engine start stands."""

    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"


# Hears of every answer, for the metrics.
AnswerObserver = Callable[[ProbeAnswer], None]


class Probe:
    """Probes one lane, one request at a time. `tend` is told of every change of its engine.

    `on_change` is called when the probe itself opens or closes the lane.
    """

    def __init__(self, parts: Parts, options: ProbeOptions, observer: AnswerObserver) -> None:
        self._parts = parts
        self._engine = parts.engine
        self._options = options
        self._observer = observer
        self._rule = strict_rule()
        self._due = asyncio.Event()
        # The engine start that is, or was, probed, and the one that may be used; 0: none.
        self._probed = 0
        self._usable = 0
        self._status: ProbeStatus | None = None
        self._scope: asyncio.Timeout | None = None
        self._served: ServedModel | None = None
        self._before: Dispatch | None = None
        self._case = 0
        # Starts must not be asked the same questions, nor by the next run of the proxy.
        self._number = int(parts.clock.unix()) % _NUMBERS
        self._again_at = 0.0
        self.on_change: Callable[[], None] = lambda: None

    @property
    def status(self) -> ProbeStatus | None:
        """None where the engine is away, or its present start has not been probed."""
        if self._is_away or self._probed != self._engine.start.number:
            return None
        return self._status

    @property
    def is_open(self) -> bool:
        """Whether the present engine start may be used; one that was certified before it may.

        After an outage only a look tells whether it is the present one.
        """
        if self._engine.is_in_doubt:
            return False
        number = self._engine.start.number
        if number == self._usable:
            return True
        return number != self._probed and self._engine.state is EngineState.CERTIFIED

    @property
    def again_in_seconds(self) -> float | None:
        """When the next probe begins, where the last one has failed closed."""
        if self.is_open or self.status is not ProbeStatus.FAILED:
            return None
        return max(0.0, self._again_at - self._parts.clock.now())

    def tend(self) -> None:
        """Begin a probe that is due, end one whose engine start is over."""
        if self._scope is None:
            if self._is_due:
                self._due.set()
        elif self._is_away or self._probed != self._engine.start.number:
            self._end(self._scope)

    async def run(self) -> None:
        """Probe every new engine start, until cancelled."""
        while True:
            self.tend()
            await self._due.wait()
            self._due.clear()
            if self._is_due:
                await self._probe_start()

    @property
    def _is_away(self) -> bool:
        """Whether there is no engine, or none that is known."""
        return self._engine.is_away or self._engine.is_in_doubt

    @property
    def _is_due(self) -> bool:
        return not self._is_away and not self.is_open

    def _end(self, scope: asyncio.Timeout) -> None:
        """Break off what runs in the scope; a second time would be an error."""
        if scope.when() is None:
            scope.reschedule(asyncio.get_running_loop().time())

    async def _probe_start(self) -> None:
        self._probed, self._case = self._engine.start.number, 0
        self._served = self._before = None
        scope = asyncio.timeout(None)
        try:
            async with scope:
                self._scope = scope
                await self._until_settled()
        except TimeoutError:
            self._status = None
            self._log(logging.INFO, "ended: the engine went away")
        finally:
            self._scope = None

    async def _until_settled(self) -> None:
        options = self._options
        while True:
            self._become(ProbeStatus.RUNNING)
            if await self._passes():
                self._usable = self._probed
                self._become(ProbeStatus.PASSED)
                return
            if options.on_fail is OnFail.OPEN:
                self._usable = self._probed
                self._log(logging.WARNING, "failed; requests are served all the same")
                self._become(ProbeStatus.FAILED)
                return
            self._again_at = self._parts.clock.now() + options.again_seconds
            again = f"the next probe begins in {options.again_seconds:g} s"
            self._log(logging.WARNING, f"failed; requests are refused, {again}")
            self._become(ProbeStatus.FAILED)
            await asyncio.sleep(options.again_seconds)

    def _become(self, status: ProbeStatus) -> None:
        self._status = status
        self.on_change()

    async def _passes(self) -> bool:
        """Ask until enough answers in a row are valid, or often enough."""
        in_a_row, result = 0, ProbeResult.VALID
        for _ in range(self._options.attempts):
            if result is ProbeResult.FAILED:
                await asyncio.sleep(self._options.pause_seconds)
            answer = await self._ask()
            self._observer(answer)
            self._before = answer.dispatch or self._before
            result = answer.result
            in_a_row = in_a_row + 1 if result is ProbeResult.VALID else 0
            self._tell(answer, in_a_row)
            if in_a_row == self._options.valid:
                return True
            self.tend()
            self.on_change()
        return False

    async def _ask(self) -> ProbeAnswer:
        self._case += 1
        self._number += 1
        name = f"probe-{self._parts.lane.name}-{self._probed}-{self._case}"
        seconds = self._options.timeout_seconds
        try:
            if self._served is None:
                async with asyncio.timeout(seconds):
                    self._served = await ask_served_model(self._parts.lane, self._parts.expected)
            request = self._options.question.request(self._served, self._number)
            call = ProbeCall(name, request, seconds, self._before)
            return await ask(self._parts, self._rule, call)
        except UpstreamError as error:
            if isinstance(error, Unreachable):
                self._engine.saw_unreachable()
            return ProbeAnswer(ProbeResult.FAILED, error.code)
        except TimeoutError:
            return ProbeAnswer(ProbeResult.FAILED, Fault.UPSTREAM_TIMEOUT)
        except Exception as error:  # noqa: BLE001 - a probe that breaks must not close the lane for good
            return ProbeAnswer(ProbeResult.FAILED, type(error).__name__)

    def _tell(self, answer: ProbeAnswer, in_a_row: int) -> None:
        """One line for one answer; it says the kind of a fault and nothing of the text."""
        if answer.result is ProbeResult.VALID:
            wanted = self._options.valid
            passed = ": passed" if in_a_row == wanted else ""
            told = f"valid, {in_a_row} of {wanted} in a row{passed}"
            self._log(logging.INFO, f"case {self._case} {told}")
        else:
            self._log(logging.WARNING, f"case {self._case} {answer.result} ({answer.cause})")

    def _log(self, level: int, text: str) -> None:
        lane = self._parts.lane.name
        _LOG.log(level, "probe of lane %s, engine start %d: %s", lane, self._probed, text)
