"""Waiting for the engine after calls that were not accepted, as the two ways of a reply do it."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from proxy.contract.exchange import Exchange
from proxy.contract.patience import patience_for
from proxy.contract.plan import LOOK_UP
from proxy.contract.policy import Attempts, StepKind
from proxy.errors import BadReply, TimedOut, Unreachable, UpstreamError
from proxy.telemetry.outcome import AttemptResult, AttemptStep, Outcome
from proxy.telemetry.record import RequestRecord
from proxy.wire.request import Request
from tests.fakes.job import ASKED, STREAMED, FakeClient, FakeClock, job_of, new_engine
from tests.fakes.lane import FakeLane, FakeReply, replying
from tests.fakes.policies import ATTEMPTS, FakeGate, failed, policy, rule
from tests.fakes.readiness import FakeReadiness
from tests.fakes.upstream import Scripted, completion, stream

BUSY = Scripted((b'{"error":{"message":"loading"}}',), status=503, headers=[("retry-after", "1")])
BAD_GATEWAY = Scripted((b"{}",), status=502)
OVERFLOW = Scripted(
    (b'{"error":{"message":"This model\'s maximum context length is 8192 tokens."}}',), status=503
)
GONE = Unreachable("gone", retry_after_seconds=2)
GATE = FakeGate()
FIRST, WAITED = AttemptStep.FIRST, AttemptStep.WAITED


def _lane(*answers: Scripted | FakeReply | UpstreamError) -> FakeLane:
    return FakeLane(
        [replying(answer) if isinstance(answer, Scripted) else answer for answer in answers]
    )


async def _exchange(
    lane: FakeLane,
    readiness: FakeReadiness,
    request: Request = ASKED,
    *,
    held: bool = True,
    attempts: Attempts = ATTEMPTS,
    **more: Any,
) -> tuple[FakeClient, RequestRecord]:
    made = replace(policy(rule(GATE)), attempts=attempts) if held else None
    client = FakeClient()
    exchange = Exchange(job_of(lane, made, request, readiness=readiness, **more), client)
    await exchange.run()
    return client, exchange.record()


@pytest.mark.parametrize("held", [True, False], ids=["held", "passed"])
@pytest.mark.parametrize("refusal", [GONE, BUSY, BAD_GATEWAY], ids=["refused", "503", "502"])
async def test_call_that_is_not_accepted_is_made_again_when_the_engine_is_ready(
    held: bool, refusal: Scripted | UpstreamError
) -> None:
    readiness = FakeReadiness(again=[True, True])

    client, record = await _exchange(_lane(refusal, refusal, completion()), readiness, held=held)

    assert client.status == 200
    assert record.outcome is Outcome.PASSED
    assert [attempt.step for attempt in record.attempts] == [FIRST, WAITED, WAITED]
    assert [calls for calls, _ in readiness.asked] == [1, 2]


async def test_waiting_costs_no_attempt_and_no_upstream_fault() -> None:
    attempts = replace(ATTEMPTS, max_attempts=2)
    lane = _lane(GONE, BUSY, GONE, BUSY, completion())
    readiness = FakeReadiness(again=[True, True, True, False])

    client, record = await _exchange(lane, readiness, attempts=attempts)

    assert client.status == 200
    assert [attempt.step for attempt in record.attempts] == [
        *(FIRST, WAITED, WAITED, WAITED),
        AttemptStep.UPSTREAM_FAULT,
    ]


async def test_wait_in_the_middle_of_a_ladder_repeats_the_same_step() -> None:
    gate = FakeGate(verdict=failed())
    made = replace(
        policy(rule(gate, (StepKind.VARY, StepKind.REJECT))), attempts=replace(ATTEMPTS, cold=False)
    )
    lane = _lane(completion("bad"), GONE, completion("bad"))
    client = FakeClient()
    request = replace(ASKED, temperature=0.0)
    job = job_of(lane, made, request, readiness=FakeReadiness(again=[True]))

    await Exchange(job, client).run()

    first, varied, again = (call.body for call in lane.calls)
    assert varied != first
    assert again == varied
    assert client.status == 422


async def test_engine_is_told_of_the_step_that_came_late() -> None:
    engine, told = new_engine()
    gate = FakeGate(verdict=failed())
    made = policy(rule(gate, (StepKind.REJECT,)))
    lane = _lane(completion("bad"), BUSY, completion("bad"))
    job = job_of(lane, made, engine=engine, readiness=FakeReadiness(again=[True]))

    await Exchange(job, FakeClient()).run()

    assert told.records[-1].retry_step == AttemptStep.COLD


@pytest.mark.parametrize("held", [True, False], ids=["held", "passed"])
async def test_refusal_is_the_reply_when_the_time_is_over(held: bool) -> None:
    attempts = replace(ATTEMPTS, upstream_faults=False)

    client, record = await _exchange(_lane(GONE), FakeReadiness(), held=held, attempts=attempts)

    assert (client.status, client.header("retry-after")) == (503, "2")
    assert client.header("x-should-retry") is None
    assert record.error_code == "upstream_unreachable"


async def test_reply_of_an_engine_that_stays_busy_is_handed_on() -> None:
    client, _ = await _exchange(_lane(BUSY), FakeReadiness(), held=False)

    assert (client.status, client.header("retry-after")) == (503, "1")
    assert client.body == BUSY.pieces[0]


@pytest.mark.parametrize(
    "answer",
    [
        BadReply("cut"),
        TimedOut("late"),
        Scripted((b"{}",), status=500),
        Scripted((b"{}",), status=504),
        Scripted((b"{}",), status=429),
        OVERFLOW,
    ],
    ids=["cut", "timeout", "500", "504", "429", "too long a prompt"],
)
async def test_call_that_may_have_cost_the_engine_is_not_waited_for(
    answer: Scripted | UpstreamError,
) -> None:
    readiness = FakeReadiness(again=[True])
    attempts = replace(ATTEMPTS, max_attempts=1)

    _, record = await _exchange(_lane(answer), readiness, attempts=attempts)

    assert readiness.asked == []
    assert record.attempts[0].result is AttemptResult.UPSTREAM_FAULT


async def test_stream_of_which_something_was_sent_is_not_begun_anew() -> None:
    begun = replying(stream(["a"]), GONE)
    cut = replace(begun, pieces=begun.pieces[:2])
    readiness = FakeReadiness(again=[True])

    client, _ = await _exchange(FakeLane([cut]), readiness, STREAMED, held=False)

    assert readiness.asked == []
    assert b"upstream_unreachable" in client.body


async def test_waits_of_a_request_share_one_bound_and_end_with_the_deadline() -> None:
    clock = FakeClock()

    class SlowReadiness(FakeReadiness):
        @override
        async def wait_again(self, calls: int, left_seconds: float) -> bool:
            clock.at += 10
            return await super().wait_again(calls, left_seconds)

    readiness = SlowReadiness(again=[True, True, True])
    attempts = replace(ATTEMPTS, deadline_seconds=25)

    _, record = await _exchange(
        _lane(GONE, GONE, GONE, completion()), readiness, attempts=attempts, clock=clock
    )

    assert readiness.asked == [(1, 25.0), (2, 15.0), (3, 5.0)]
    assert record.overhead_seconds == 0
    assert record.duration_seconds == 30


async def test_time_waited_before_the_admission_counts() -> None:
    readiness = FakeReadiness(again=[True])
    job = job_of(_lane(GONE, completion()), None, readiness=readiness)
    job = replace(job, arrival=replace(job.arrival, ready_seconds=29.5))

    await Exchange(job, FakeClient()).run()

    assert readiness.asked == [(1, 0.5)]


def test_nobody_waits_where_the_settings_want_none_and_look_ups_never_do() -> None:
    lane = FakeLane()
    none, closed, job = (
        job_of(lane),
        job_of(lane, readiness=FakeReadiness(wait_seconds=0)),
        job_of(lane, readiness=FakeReadiness()),
    )

    assert patience_for(none, 0.0) is None
    assert patience_for(closed, 0.0) is None
    assert patience_for(replace(job, plan=LOOK_UP), 0.0) is None
    assert patience_for(job, 0.0) is not None


@settings(max_examples=150)
@given(
    kinds=st.lists(st.sampled_from(("gone", "busy", "bad", "cut", "good")), max_size=12),
    again=st.lists(st.booleans(), max_size=12),
    max_attempts=st.integers(1, 4),
    held=st.booleans(),
)
def test_calls_that_were_accepted_never_exceed_the_policy_s_attempts(
    kinds: list[str], again: list[bool], max_attempts: int, held: bool
) -> None:
    answers: dict[str, Scripted | UpstreamError] = {"gone": GONE, "busy": BUSY, "bad": BAD_GATEWAY}
    answers |= {"cut": BadReply("cut"), "good": completion()}
    lane = _lane(*(answers[kind] for kind in kinds), *[completion()] * 8)
    readiness = FakeReadiness(again=list(again))

    client, record = asyncio.run(
        _exchange(lane, readiness, held=held, attempts=replace(ATTEMPTS, max_attempts=max_attempts))
    )

    steps = [attempt.step for attempt in record.attempts]
    used = again[: len(readiness.asked)]
    assert client.ended
    assert steps.count(WAITED) == sum(used)
    assert len(steps) - steps.count(WAITED) <= (max_attempts if held else 1)
    assert all((reply.opened, reply.closed) == (1, 1) for reply in lane.replies)
