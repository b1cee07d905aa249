"""One request of a probe: called, judged and settled as a client's would be."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Final

from proxy.contract.attempt import Attempt
from proxy.contract.attempts import finish_attempt
from proxy.contract.collect import collect
from proxy.contract.engine_answer import answer_of
from proxy.contract.job import Arrival, Job, Parts
from proxy.contract.plan import Plan, Way
from proxy.contract.policy import GateSpec, Mode, Rule, Step, StepKind
from proxy.errors import TimedOut, UpstreamError
from proxy.gates.schema import LIGHT
from proxy.gates.strict_json import NAME, StrictJsonGate, StrictJsonOptions
from proxy.telemetry.engine_start import AskedBy
from proxy.telemetry.outcome import AttemptStep, Endpoint, ProbeResult
from proxy.upstream.sample import Dispatch
from proxy.wire.request import Request

_PATH: Final = "/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """How one request of a probe came out. `cause`: a fault, an error's code, or a status.

    `dispatch`: what the engine was told of the request; None where it was not sent.
    """

    result: ProbeResult
    cause: str = ""
    tokens: int = 0
    dispatch: Dispatch | None = field(default=None, compare=False)


def strict_rule() -> Rule:
    """The gate `strict_json` as it is without any options, and without repairs."""
    options = StrictJsonOptions()
    end = Step(StepKind.REJECT)
    spec = GateSpec(NAME, options.model_dump_json())
    return Rule(StrictJsonGate(options, LIGHT), (end,), end, Mode.ENFORCE, spec)


@dataclass(frozen=True, slots=True)
class ProbeCall:
    """One request of a probe, under its name. `after`: the request before it, if it was sent."""

    name: str
    request: Request
    timeout_seconds: float
    after: Dispatch | None = None


async def ask(parts: Parts, rule: Rule, call: ProbeCall) -> ProbeAnswer:
    """Send a request and judge its answer; the engine hears of the verdict."""
    request, timeout_seconds = call.request, call.timeout_seconds
    job = _job(parts, rule, request, call.name)
    engine = parts.engine
    attempt = Attempt(
        number=1,
        step=AttemptStep.FIRST,
        began=parts.clock.now(),
        cold=engine.is_cold,
        dispatch=engine.dispatch(by=AskedBy.PROBE, step=AskedBy.PROBE, after=call.after),
        abandoned=True,
    )
    try:
        async with asyncio.timeout(timeout_seconds):
            await collect(job, attempt, job.call(request.body, 1, attempt.step))
            if attempt.reply is not None:
                attempt.judged = await parts.judge.judge_all(job.plan, attempt.reply, request)
        attempt.abandoned = False
    except UpstreamError as error:
        attempt.error = error
    except TimeoutError:
        attempt.error = TimedOut(f"No answer to the probe within {timeout_seconds:g} s.")
    finally:
        finish_attempt(job, attempt)
    return replace(_answer(request, attempt), dispatch=attempt.dispatch)


def _job(parts: Parts, rule: Rule, request: Request, name: str) -> Job:
    now = parts.clock.now()
    arrival = Arrival(
        id=name,
        endpoint=Endpoint.CHAT,
        method="POST",
        path=_PATH,
        headers=[("content-type", "application/json"), ("x-request-id", name)],
        request=request,
        received_at=now,
        received_unix=parts.clock.unix(),
    )
    return Job(parts, arrival, None, Plan(Way.HOLD, (rule,)), request.body, hides_usage=False)


def _answer(request: Request, attempt: Attempt) -> ProbeAnswer:
    """Valid and invalid are what the engine is told; the rest says nothing about it."""
    tokens = attempt.spent_tokens
    if attempt.error is not None:
        return ProbeAnswer(ProbeResult.FAILED, attempt.error.code, tokens)
    if attempt.is_error_reply or not attempt.judged:
        return ProbeAnswer(ProbeResult.FAILED, f"status {attempt.status}", tokens)
    valid = answer_of(request, attempt.judged).valid
    if valid:
        return ProbeAnswer(ProbeResult.VALID, tokens=tokens)
    verdict = attempt.judged[0].verdict
    result = ProbeResult.FAILED if valid is None else ProbeResult.INVALID
    return ProbeAnswer(result, verdict.fault or f"verdict {verdict.result}", tokens)
