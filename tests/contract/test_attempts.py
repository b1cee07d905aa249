import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from proxy.contract.exchange import Exchange
from proxy.contract.policy import Attempts, Policy, StepKind
from proxy.errors import BadReply, Fault, TimedOut, Unreachable, UpstreamError
from proxy.gates.base import Gate, Result, Verdict, Watch
from proxy.telemetry.engine_start import FirstAnswer
from proxy.telemetry.outcome import AttemptResult, AttemptStep, Outcome
from proxy.telemetry.record import RequestRecord
from proxy.upstream.engine import EngineState
from proxy.wire.reply import Reply
from proxy.wire.request import Request
from tests.fakes.job import ASKED, STREAMED, FakeClient, job_of, new_engine
from tests.fakes.lane import FakeLane, FakeReply, replying
from tests.fakes.loop import run_without_waiting
from tests.fakes.policies import ATTEMPTS, FakeGate, failed, policy, rule
from tests.fakes.upstream import Scripted, completion, stream

REJECT, DELIVER = StepKind.REJECT, StepKind.DELIVER
WARM = replace(ATTEMPTS, cold=False)


class GoodGate(Gate):
    """Passes contents that begin with `good`; `poor` ones break the schema only."""

    name = "strict_json"

    @override
    def applies(self, request: Request) -> bool:
        return True

    @override
    def judge(self, reply: Reply, request: Request) -> Verdict:
        choice = reply.choices[0]
        if (choice.content or "").startswith("good"):
            return Verdict(self.name, Result.PASS)
        if choice.finish_reason == "length":
            return failed(Fault.TRUNCATED)
        poor = (choice.content or "").startswith("poor")
        return failed(Fault.SCHEMA_VIOLATION if poor else Fault.NOT_JSON)

    @override
    def watch(self, request: Request) -> Watch | None:
        return _BadWatch()


class _BadWatch(Watch):
    @override
    def feed(self, choice: int, content: str) -> Verdict | None:
        return failed(Fault.WHITESPACE_RUNAWAY) if content.startswith("cut") else None


def _policy(*ladder: StepKind, attempts: Attempts = ATTEMPTS) -> Policy:
    return replace(policy(rule(GoodGate(), ladder)), attempts=attempts)


async def _exchange(
    lane: FakeLane, made: Policy, request: Request = ASKED
) -> tuple[FakeClient, RequestRecord]:
    client = FakeClient()
    exchange = Exchange(job_of(lane, made, request), client)
    await exchange.run()
    return client, exchange.record()


def _lane(*answers: Scripted | FakeReply | UpstreamError) -> FakeLane:
    return FakeLane(
        [replying(answer) if isinstance(answer, Scripted) else answer for answer in answers]
    )


async def test_deadline_in_the_first_attempt_is_a_504() -> None:
    made = _policy(REJECT, attempts=replace(ATTEMPTS, deadline_seconds=0.01))
    hanging = FakeReply(hangs=True)

    client, record = await _exchange(_lane(hanging), made)

    assert client.status == 504
    assert client.header("x-should-retry") == "false"
    assert (record.outcome, record.error_code) == (Outcome.TIMED_OUT, "upstream_timeout")
    assert record.attempts[0].result is AttemptResult.ABANDONED
    assert (hanging.opened, hanging.closed) == (1, 1)


@pytest.mark.parametrize(("end", "status"), [(REJECT, 422), (DELIVER, 200)])
async def test_deadline_in_a_later_attempt_ends_by_the_last_judged_one(
    end: StepKind, status: int
) -> None:
    made = _policy(StepKind.SAME, end, attempts=replace(ATTEMPTS, deadline_seconds=0.05))

    client, record = await _exchange(_lane(completion("bad"), FakeReply(hangs=True)), made)

    assert client.status == status
    assert client.header("x-sluicegate-verdicts") == "strict_json=fail(not_json)"
    assert [attempt.result for attempt in record.attempts] == [
        AttemptResult.INVALID,
        AttemptResult.ABANDONED,
    ]


async def test_best_attempt_is_delivered_with_its_own_verdicts() -> None:
    made = _policy(
        StepKind.SAME, StepKind.SAME, DELIVER, attempts=replace(ATTEMPTS, deliver_best=True)
    )
    lane = _lane(completion("bad 0"), completion("poor 1"), completion("bad 2"))

    client, record = await _exchange(lane, made)

    assert b"poor 1" in client.body
    assert client.header("x-sluicegate-verdicts") == "strict_json=fail(schema_violation)"
    assert client.header("x-sluicegate-attempts") == "3"
    assert record.failed_attempt_tokens == 6


async def test_stream_that_would_be_delivered_anyway_is_not_cut() -> None:
    lane = _lane(stream(["cut", " but whole"]))

    made = _policy(DELIVER, attempts=WARM)
    client, record = await _exchange(lane, made, STREAMED)

    assert b" but whole" in client.body
    assert client.body.endswith(b"data: [DONE]\n\n")
    assert record.outcome is Outcome.PASSED


async def test_cut_stream_takes_the_next_step_and_leaves_the_upstream() -> None:
    cut, good = replying(stream(["cut", "never read"])), replying(stream(["good"]))

    client, record = await _exchange(_lane(cut, good), _policy(StepKind.SAME, REJECT), STREAMED)

    assert b"good" in client.body
    assert cut.closed == 1
    assert cut.taken < len(cut.pieces)
    assert record.attempts[0].faults == (Fault.WHITESPACE_RUNAWAY,)


async def test_error_after_a_generation_tells_clients_not_to_resend() -> None:
    made = _policy(StepKind.SAME, REJECT, attempts=replace(ATTEMPTS, upstream_faults=False))

    client, _ = await _exchange(_lane(completion("bad"), Unreachable("gone")), made)

    assert client.status == 503
    assert client.header("x-should-retry") == "false"


async def test_request_that_never_arrived_may_be_resent() -> None:
    made = _policy(REJECT)

    client, _ = await _exchange(_lane(Unreachable("gone"), Unreachable("gone")), made)

    assert client.status == 503
    assert client.header("x-should-retry") is None


async def test_body_that_cannot_be_changed_is_sent_as_it_was() -> None:
    lane = _lane(completion("bad"), completion("good"))
    request = Request(b'{"messages":"no list"}', messages=b'"no list"')

    made = _policy(StepKind.REASK, REJECT, attempts=WARM)
    client, record = await _exchange(lane, made, request)

    assert client.status == 200
    assert record.attempts[1].step is AttemptStep.REASK
    assert lane.calls[1].body == request.body


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (completion("good"), [FirstAnswer.VALID]),
        (completion("bad"), [FirstAnswer.INVALID]),
        (Scripted((b'{"error":{}}',), status=400), []),
        (BadReply("cut"), []),
    ],
    ids=["valid", "invalid", "refused", "broken"],
)
async def test_sample_of_an_engine_start_is_settled_in_every_case(
    answer: Scripted | UpstreamError, expected: list[FirstAnswer]
) -> None:
    engine, told = new_engine()
    made = _policy(REJECT, attempts=replace(ATTEMPTS, max_attempts=1))

    await Exchange(job_of(_lane(answer), made, engine=engine), FakeClient()).run()

    assert told.answers == expected
    assert engine.dispatch().is_sample is (not expected)


@pytest.mark.parametrize("status", [502, 503, 504])
async def test_gateway_errors_do_not_make_a_loading_engine_a_new_start(status: int) -> None:
    engine, told = new_engine()
    engine.saw_loading()
    fault = Scripted((b"{}",), status=status)

    made = _policy(REJECT, attempts=replace(ATTEMPTS, max_attempts=1))
    await Exchange(job_of(_lane(fault), made, engine=engine), FakeClient()).run()

    assert engine.start.number == 1
    assert told.answers == []


@pytest.mark.parametrize(
    ("error", "state"),
    [(None, EngineState.CERTIFIED), (TimedOut("silent"), EngineState.UNREACHABLE)],
    ids=["ends", "breaks_off"],
)
async def test_reply_that_breaks_off_does_not_say_that_its_engine_is_there(
    error: UpstreamError | None, state: EngineState
) -> None:
    engine, _ = new_engine()
    engine.saw_unreachable()
    made = _policy(REJECT, attempts=replace(ATTEMPTS, max_attempts=1))
    lane = FakeLane([replying(completion("good"), error)])

    await Exchange(job_of(lane, made, engine=engine), FakeClient()).run()

    assert engine.state is state


async def test_rejection_names_the_gate_that_rejects() -> None:
    soft = rule(FakeGate("length", failed(gate="length", reason="short")), (DELIVER,))
    hard = rule(FakeGate(verdict=failed(reason="no JSON")), (REJECT,))
    made = replace(policy(soft, hard), attempts=WARM)

    client, _ = await _exchange(_lane(completion("x")), made)

    assert b"strict_json after 1 attempt: no JSON" in client.body


@dataclass(frozen=True)
class Luck:
    """What one attempt comes to, and what it costs."""

    kind: str
    streamed: bool

    def answer(self, number: int) -> FakeReply:
        content = {"valid": "good", "poor": "poor"}.get(self.kind, "bad") + f" #{number}"
        finish = "length" if self.kind == "truncated" else "stop"
        usage = (1, 1 << number)
        if self.kind == "hangs":
            return FakeReply(is_stream=self.streamed, hangs=True)
        if self.kind == "503":
            return replying(Scripted((b'{"error":{}}',), status=503))
        if self.kind == "error":
            error = b'{"error":{"message":"x"}}'
            event = Scripted((b"data: " + error + b"\n\n",), content_type="text/event-stream")
            return replying(event if self.streamed else Scripted((error,)))
        if self.streamed:
            whole = stream([content], finish_reason=finish, usage=usage)
        else:
            whole = completion(content, finish_reason=finish, usage=usage)
        if self.kind != "cut":
            return replying(whole)
        part = replace(whole, pieces=whole.pieces[:2] if self.streamed else (b'{"choices":[',))
        return replying(part, BadReply("The upstream broke off."))

    def tokens(self, number: int) -> int:
        if self.kind in ("503", "error", "hangs"):
            return 0
        if self.kind == "cut":
            return 2 if self.streamed else 0
        return 1 << number


@dataclass(frozen=True)
class Case:
    ladder: tuple[StepKind, ...]
    attempts: Attempts
    luck: Sequence[Luck]
    streamed: bool
    certified: bool
    lane: FakeLane = field(default_factory=FakeLane)


ENDS = (REJECT, DELIVER, StepKind.FLAG, StepKind.FALLBACK)
KINDS = ("valid", "bad", "poor", "truncated", "503", "cut", "error", "hangs")
DEADLINE_SECONDS = 5.0
FALLBACK_TEXT = "No answer that holds."


@st.composite
def cases(draw: st.DrawFn) -> Case:
    again = st.sampled_from((StepKind.SAME, StepKind.VARY, StepKind.REASK))
    streamed = draw(st.booleans())
    attempts = replace(
        ATTEMPTS,
        max_attempts=draw(st.integers(1, 5)),
        deadline_seconds=DEADLINE_SECONDS,
        max_extra_tokens=draw(st.sampled_from((0, 3, 1000))),
        cold=draw(st.booleans()),
        upstream_faults=draw(st.booleans()),
        deliver_best=draw(st.booleans()),
    )
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=5, max_size=5))
    luck = [Luck(kind, streamed) for kind in kinds]
    return Case(
        ladder=(*draw(st.lists(again, max_size=4)), draw(st.sampled_from(ENDS))),
        attempts=attempts,
        luck=luck,
        streamed=streamed,
        certified=draw(st.booleans()),
        lane=FakeLane([one.answer(number) for number, one in enumerate(luck)]),
    )


@settings(max_examples=300)
@given(cases())
def test_any_ladder_keeps_its_promises_whatever_the_upstream_does(case: Case) -> None:
    client, record, seconds = run_without_waiting(_run(case))

    assert seconds < DEADLINE_SECONDS + 1
    calls = len(case.lane.calls)
    assert 1 <= calls <= case.attempts.max_attempts
    assert len(record.attempts) == calls
    assert all((reply.opened, reply.closed) == (1, 1) for reply in case.lane.replies)
    assert client.ended
    spent = [case.luck[number].tokens(number) for number in range(calls)]
    assert record.failed_attempt_tokens + (record.completion_tokens or 0) == sum(spent)
    _check_delivery(case, client, record)


async def _run(case: Case) -> tuple[FakeClient, RequestRecord, float]:
    """Also the seconds that it took by the clock of the loop."""
    engine, _ = new_engine()
    if case.certified:
        engine.settle(engine.dispatch(), valid=True)
    one = replace(rule(GoodGate(), case.ladder), fallback_text=FALLBACK_TEXT)
    made = replace(policy(one), attempts=case.attempts)
    client = FakeClient()
    request = STREAMED if case.streamed else ASKED
    exchange = Exchange(job_of(case.lane, made, request, engine=engine), client)
    now = asyncio.get_running_loop().time
    began = now()
    await exchange.run()
    return client, exchange.record(), now() - began


def _check_delivery(case: Case, client: FakeClient, record: RequestRecord) -> None:
    shown = [number for number in range(5) if f"#{number}".encode() in client.body]
    assert (FALLBACK_TEXT.encode() in client.body) is (record.outcome is Outcome.REPAIRED)
    if record.outcome not in (Outcome.PASSED, Outcome.FLAGGED):
        assert shown == []
        assert case.streamed or b"[DONE]" not in client.body
        return
    (delivered,) = shown
    passed = case.luck[delivered].kind == "valid"
    assert record.completion_tokens == case.luck[delivered].tokens(delivered)
    assert record.verdicts == record.attempts[delivered].verdicts
    assert (client.header("x-sluicegate-verdicts") == "strict_json=pass") is passed
    if passed:
        assert delivered == len(case.lane.calls) - 1
    else:
        assert case.ladder[-1] is (StepKind.FLAG if record.outcome is Outcome.FLAGGED else DELIVER)


async def test_steps_of_a_record_are_those_of_the_ladder() -> None:
    lane = _lane(completion("bad"), completion("bad"), completion("good"))

    _, record = await _exchange(lane, _policy(StepKind.VARY, REJECT))

    steps = [attempt.step for attempt in record.attempts]
    assert steps == [AttemptStep.FIRST, AttemptStep.COLD, AttemptStep.VARY]


@pytest.mark.parametrize(
    ("status", "body", "faults"),
    [
        pytest.param(500, b"{}", ("upstream_bad_reply",), id="of the server"),
        pytest.param(404, b"{}", (), id="of the client"),
        pytest.param(
            500,
            b'{"error":{"message":"This model\'s maximum context length is 8 tokens."}}',
            (),
            id="of the client, told as the server's",
        ),
    ],
)
async def test_error_of_the_server_counts_as_a_fault(
    status: int, body: bytes, faults: tuple[str, ...]
) -> None:
    reply = FakeReply((body,), status)
    exchange = Exchange(job_of(FakeLane([reply, reply, reply]), policy(rule())), FakeClient())

    await exchange.run()

    assert {attempt.faults for attempt in exchange.record().attempts} == {faults}
