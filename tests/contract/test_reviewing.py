import json
from dataclasses import replace
from typing import Any

import pytest

from proxy.contract.exchange import Exchange
from proxy.contract.policy import Policy, Review, StepKind, StreamMode
from proxy.contract.reviews import Flag, Texts
from proxy.errors import Fault
from proxy.gates.base import Result, Verdict
from proxy.telemetry.outcome import Outcome
from proxy.wire.reply import Choice
from proxy.wire.request import Request
from tests.fakes.job import ASKED, STREAMED, FakeClient, job_of
from tests.fakes.lane import FakeLane, replying
from tests.fakes.policies import ATTEMPTS, FakeGate, failed, policy, rule
from tests.fakes.reviews import FakeReviews
from tests.fakes.upstream import Scripted, completion, stream

FAILED = failed(Fault.OVERCONFIDENT, reason="It says too much.", place="choices[0].message.content")
PARK = rule(FakeGate(verdict=FAILED), (StepKind.PARK,))
BODY = completion("bad")
STREAM = stream(["bad"], usage=None)


def _policy(ends: StepKind = StepKind.PARK, *, stores: bool = False, mode: str = "auto") -> Policy:
    made = policy(rule(FakeGate(verdict=FAILED), (ends,)), stream=StreamMode(mode))
    attempts = replace(ATTEMPTS, cold=False)
    return replace(made, attempts=attempts, review=Review(stores_bodies=stores))


async def _served(
    made: Policy, request: Request = ASKED, reply: Scripted = BODY
) -> tuple[FakeClient, FakeReviews, Exchange]:
    client = FakeClient()
    reviews = FakeReviews(client)
    job = job_of(FakeLane([replying(reply)]), made, request, reviews=reviews)
    exchange = Exchange(job, client)
    await exchange.run()
    return client, reviews, exchange


def _error(body: bytes) -> Any:
    return json.loads(body[body.index(b"{") : body.rindex(b"}") + 1])["error"]


@pytest.mark.parametrize(
    ("request_", "reply"), [(ASKED, BODY), (STREAMED, STREAM)], ids=["body", "stream"]
)
async def test_parked_reply_is_kept_back_with_the_id_of_its_review(
    request_: Request, reply: Scripted
) -> None:
    client, reviews, exchange = await _served(_policy(), request_, reply)

    ((review_id, flag),) = reviews.parked.items()
    assert client.status == 422
    assert _error(client.body) == {
        "message": "The reply is held back for review: it failed the gate strict_json after "
        "1 attempt: It says too much.",
        "type": "held_for_review",
        "param": "choices[0].message.content",
        "code": "held_for_review",
        "review_id": review_id,
    }
    assert client.header("x-should-retry") == "false"
    assert client.header("x-sluicegate-outcome") == "parked"
    assert (flag.fault, flag.texts) == (Fault.OVERCONFIDENT, None)
    assert reviews.started_before == [False]
    record = exchange.record()
    assert (record.outcome, record.error_code, record.status) == (
        Outcome.PARKED,
        "held_for_review",
        422,
    )
    assert record.failed_attempt_tokens > 0


async def test_each_review_has_an_id_of_its_own() -> None:
    first = (await _served(_policy()))[1]
    second = (await _served(_policy()))[1]

    assert first.parked.keys() != second.parked.keys()


@pytest.mark.parametrize("end", [StepKind.PARK, StepKind.FLAG])
async def test_queue_gets_the_texts_where_the_policy_stores_them(end: StepKind) -> None:
    _, reviews, _ = await _served(_policy(end, stores=True))

    (flag,) = [*reviews.flags, *reviews.parked.values()]
    choice = Choice(0, "bad", finish_reason="stop")
    assert flag.texts == Texts(ASKED.body, (choice,), "It says too much.")


async def test_parked_reply_is_refused_and_counted_where_there_is_no_queue() -> None:
    client = FakeClient()

    exchange = Exchange(job_of(FakeLane([replying(BODY)]), _policy()), client)
    await exchange.run()

    assert client.status == 422
    assert _error(client.body)["review_id"].startswith("rv-")
    assert exchange.record().outcome is Outcome.PARKED


async def test_gate_that_cannot_judge_may_park() -> None:
    broken = FakeGate(verdict=Verdict("strict_json", Result.ERROR, reason="It broke."))
    made = replace(_policy(), rules=(rule(broken, on_error=StepKind.PARK),))

    client, reviews, _ = await _served(made)

    assert client.status == 422
    assert [flag.fault for flag in reviews.parked.values()] == [None]


async def test_stream_that_has_begun_ends_with_the_error() -> None:
    client, reviews, exchange = await _served(_policy(mode="pass"), STREAMED, STREAM)

    assert client.status == 200
    assert b"[DONE]" not in client.body
    assert b'"code": "held_for_review"' in client.body
    assert len(reviews.parked) == 1
    assert exchange.record().outcome is Outcome.PARKED


async def test_park_wins_over_a_flag_and_names_its_own_gate() -> None:
    flagging = rule(FakeGate("other", verdict=failed(gate="other")), (StepKind.FLAG,))
    made = replace(_policy(), rules=(flagging, PARK))

    client, reviews, _ = await _served(made)

    assert client.status == 422
    assert [flag.gate for flag in reviews.parked.values()] == ["strict_json"]
    assert reviews.flags == []


def test_flag_has_no_texts_by_itself() -> None:
    assert Flag("r-1", 1, "p", "g", None, "").texts is None
