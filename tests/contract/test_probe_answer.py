import asyncio

import pytest

from proxy.contract.job import Parts
from proxy.contract.probe_answer import ProbeAnswer, ProbeCall, ask, strict_rule
from proxy.contract.probe_options import Question
from proxy.contract.served_model import ServedModel
from proxy.errors import BadReply, Unreachable, UpstreamError
from proxy.telemetry.engine_start import AskedBy
from proxy.telemetry.outcome import ProbeResult
from proxy.upstream.engine import Engine, EngineState
from tests.fakes.job import job_of, new_engine
from tests.fakes.lane import FakeLane, FakeReply, replying
from tests.fakes.probe import VALID
from tests.fakes.upstream import Scripted, completion, stream

REQUEST = Question().request(ServedModel("tiny"), 1)
V, I, F = ProbeResult.VALID, ProbeResult.INVALID, ProbeResult.FAILED  # noqa: E741 - as in a table
FENCED = '```json\n{"check": 1, "ready": true}\n```'


def _parts(answer: Scripted | FakeReply | UpstreamError, engine: Engine | None = None) -> Parts:
    step = replying(answer) if isinstance(answer, Scripted) else answer
    return job_of(FakeLane([step]), engine=engine).parts


async def _ask(parts: Parts, timeout_seconds: float = 5) -> ProbeAnswer:
    return await ask(parts, strict_rule(), ProbeCall("probe-main-1-1", REQUEST, timeout_seconds))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (VALID, ProbeAnswer(V, tokens=3)),
        (stream(['{"check": 1,', ' "ready": true}']), ProbeAnswer(V, tokens=3)),
        (completion('{"check": 1}'), ProbeAnswer(I, "schema_violation", 3)),
        (completion(FENCED), ProbeAnswer(I, "leading_junk", 3)),
        (completion(None), ProbeAnswer(I, "empty_content", 3)),
        (completion('{"check"', finish_reason="length"), ProbeAnswer(F, "truncated", 3)),
        (completion("", finish_reason="content_filter"), ProbeAnswer(F, "verdict skip", 3)),
        (Scripted((b"{}",), status=503), ProbeAnswer(F, "status 503")),
        (Scripted((b'{"choices":7}',)), ProbeAnswer(F, "upstream_bad_reply")),
        (BadReply("cut"), ProbeAnswer(F, "upstream_bad_reply")),
        (Unreachable("gone"), ProbeAnswer(F, "upstream_unreachable")),
    ],
    ids=[
        *("valid", "streamed", "against the schema", "fenced", "empty", "truncated", "filtered"),
        *("503", "no completion", "cut", "unreachable"),
    ],
)
async def test_answer_is_judged_as_a_client_s_would_be(
    answer: Scripted | UpstreamError, expected: ProbeAnswer
) -> None:
    assert await _ask(_parts(answer)) == expected


async def test_engine_hears_of_the_verdict_and_who_asked() -> None:
    engine, told = new_engine()

    await _ask(_parts(completion("no"), engine))
    await _ask(_parts(VALID, engine))

    record = told.records[-1]
    assert (record.first_by, record.first_fault) == (AskedBy.PROBE, "leading_junk")
    assert engine.state is EngineState.CERTIFIED


async def test_sample_of_an_answer_that_never_came_is_free_again() -> None:
    engine, _ = new_engine()
    hanging = FakeReply(hangs=True)

    answer = await _ask(_parts(hanging, engine), 0.01)

    assert answer == ProbeAnswer(F, "upstream_timeout")
    assert hanging.closed == 1
    assert engine.dispatch().is_sample


async def test_request_that_is_broken_off_closes_the_call_and_frees_the_sample() -> None:
    engine, _ = new_engine()
    hanging = FakeReply(hangs=True)
    task = asyncio.create_task(_ask(_parts(hanging, engine)))
    for _ in range(5):
        await asyncio.sleep(0)

    task.cancel()
    await asyncio.wait({task})

    assert (hanging.opened, hanging.closed) == (1, 1)
    assert engine.dispatch().is_sample


async def test_request_is_a_plain_call_of_the_chat_surface() -> None:
    parts = _parts(VALID)

    await _ask(parts)

    assert isinstance(parts.lane, FakeLane)
    (call,) = parts.lane.calls
    assert (call.method, call.path, call.body) == ("POST", "/v1/chat/completions", REQUEST.body)
    assert dict(call.headers) == {
        "content-type": "application/json",
        "x-request-id": "probe-main-1-1",
    }
