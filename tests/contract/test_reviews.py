from dataclasses import replace

import pytest

from proxy.contract.exchange import Exchange
from proxy.contract.policy import Rule, StepKind
from proxy.contract.reviews import Flag
from proxy.errors import Fault
from proxy.gates.base import Result, Verdict
from proxy.telemetry.outcome import Outcome
from proxy.wire.request import Request
from tests.fakes.job import ASKED, STREAMED, FakeClient, job_of
from tests.fakes.lane import FakeLane, replying
from tests.fakes.policies import ATTEMPTS, FakeGate, failed, policy, rule
from tests.fakes.reviews import FakeReviews
from tests.fakes.upstream import Scripted, completion, stream

FAILED = failed(Fault.SCHEMA_VIOLATION, place="choices[0].message.content#/a")
FLAG = rule(FakeGate(verdict=FAILED), (StepKind.FLAG,))
BODY = completion("bad")
STREAM = stream(["bad"], usage=None)


async def _served(
    *rules: Rule, request: Request = ASKED, replies: tuple[Scripted, ...] = (BODY,)
) -> tuple[FakeClient, FakeReviews, Exchange]:
    client = FakeClient()
    reviews = FakeReviews(client)
    made = replace(policy(*rules), attempts=replace(ATTEMPTS, cold=False))
    lane = FakeLane([replying(reply) for reply in replies])
    exchange = Exchange(job_of(lane, made, request, reviews=reviews), client)
    await exchange.run()
    return client, reviews, exchange


@pytest.mark.parametrize(
    ("request_", "reply"), [(ASKED, BODY), (STREAMED, STREAM)], ids=["body", "stream"]
)
async def test_flag_is_kept_before_the_reply_leaves(request_: Request, reply: Scripted) -> None:
    client, reviews, exchange = await _served(FLAG, request=request_, replies=(reply,))

    assert reviews.started_before == [False]
    assert reviews.flags == [
        Flag(
            request_id="r-1",
            attempt=1,
            policy="production@0123456789ab",
            gate="strict_json",
            fault=Fault.SCHEMA_VIOLATION,
            place="choices[0].message.content#/a",
        )
    ]
    assert (client.status, client.body) == (200, b"".join(reply.pieces))
    assert client.header("x-sluicegate-outcome") == "flagged"
    assert exchange.record().outcome is Outcome.FLAGGED


async def test_gate_that_cannot_judge_may_flag_without_a_fault() -> None:
    broken = FakeGate(verdict=Verdict("strict_json", Result.ERROR, reason="broke"))

    _, reviews, _ = await _served(rule(broken, on_error=StepKind.FLAG))

    assert [flag.fault for flag in reviews.flags] == [None]


async def test_flag_names_the_gate_that_asks_for_it() -> None:
    delivering = rule(FakeGate("other", verdict=failed(gate="other")), (StepKind.DELIVER,))

    _, reviews, _ = await _served(delivering, FLAG)

    assert [flag.gate for flag in reviews.flags] == ["strict_json"]


@pytest.mark.parametrize("end", [StepKind.DELIVER, StepKind.REJECT, StepKind.FALLBACK])
async def test_other_ends_flag_nothing(end: StepKind) -> None:
    _, reviews, _ = await _served(rule(FakeGate(verdict=FAILED), (end,)))

    assert reviews.flags == []


async def test_flagged_reply_is_delivered_where_there_is_no_queue() -> None:
    client = FakeClient()

    await Exchange(job_of(FakeLane([replying(BODY), replying(BODY)]), policy(FLAG)), client).run()

    assert client.body == BODY.pieces[0]
