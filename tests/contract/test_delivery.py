import json
from dataclasses import replace

import pytest

from proxy.contract.attempt import Attempt
from proxy.contract.attempts import Settled
from proxy.contract.delivery import (
    deliver,
    outcome_of,
    rejection,
    relay_error_reply,
    repairs_of,
    with_fitting_fallback,
)
from proxy.contract.job import Job
from proxy.contract.judging import Judged
from proxy.contract.policy import StepKind
from proxy.errors import BadReply, Fault
from proxy.gates.base import Repair, Repaired, Result, Verdict
from proxy.gates.strict_json import StrictJsonGate, StrictJsonOptions
from proxy.telemetry.outcome import AttemptStep, Outcome
from proxy.wire.reply import Choice, Reply, Usage, read_reply
from proxy.wire.request import Request
from proxy.wire.sse import SseParser
from tests.fakes.job import ASKED, STREAMED, FakeClient, headers_named, job_of
from tests.fakes.lane import FakeLane
from tests.fakes.policies import FakeGate, failed, policy, rule
from tests.fakes.upstream import completion, stream

REPAIRED = Verdict("strict_json", Result.PASS, repaired={0: Repaired("{}", (Repair.UNWRAP_FENCE,))})
JOB = job_of(FakeLane(), policy(rule()), ASKED)


def _attempt(*verdicts: Verdict, status: int = 200, enforced: bool = True) -> Attempt:
    attempt = Attempt(1, AttemptStep.FIRST, began=0.0)
    attempt.status = status
    attempt.body = completion("```{}```").pieces[0]
    attempt.judged = tuple(Judged(rule(), verdict, enforced) for verdict in verdicts)
    return attempt


@pytest.mark.parametrize(
    ("attempt", "end", "outcome"),
    [
        (_attempt(), StepKind.DELIVER, Outcome.PASSED),
        (_attempt(REPAIRED), StepKind.DELIVER, Outcome.REPAIRED),
        (_attempt(REPAIRED, enforced=False), StepKind.DELIVER, Outcome.PASSED),
        (_attempt(failed()), StepKind.REJECT, Outcome.REJECTED),
        (_attempt(failed()), StepKind.DELIVER, Outcome.PASSED),
        (_attempt(failed()), StepKind.FLAG, Outcome.FLAGGED),
        (_attempt(REPAIRED, failed()), StepKind.FLAG, Outcome.FLAGGED),
        (_attempt(failed()), StepKind.FALLBACK, Outcome.REPAIRED),
        (_attempt(status=404), StepKind.DELIVER, Outcome.REFUSED),
        (_attempt(status=503), StepKind.DELIVER, Outcome.UPSTREAM_FAILED),
    ],
    ids=[
        "passed",
        "repaired",
        "observed",
        "rejected",
        "delivered",
        "flagged",
        "flagged_and_repaired",
        "fallback",
        "refused",
        "failed",
    ],
)
def test_outcome_says_how_a_reply_ended(attempt: Attempt, end: StepKind, outcome: Outcome) -> None:
    assert outcome_of(attempt, end) is outcome


def test_gates_that_only_observe_repair_nothing() -> None:
    assert repairs_of(_attempt(REPAIRED, enforced=False)) == {}


def _fallback(asked: Request, *events: bytes, is_stream: bool = True) -> tuple[Job, Settled]:
    """A reply that failed two gates, of which the second one has a text in its place."""
    attempt = _attempt()
    attempt.is_stream = is_stream
    attempt.headers = [("content-type", "x"), ("x-vendor", "y")]
    attempt.events = SseParser(1 << 20).feed(b"".join(events))
    other = rule(FakeGate("other"), (StepKind.DELIVER,))
    own = replace(rule(FakeGate("own"), (StepKind.FALLBACK,)), fallback_text="Sorry.")
    attempt.judged = tuple(Judged(each, failed(), enforced=True) for each in (other, own))
    return job_of(FakeLane(), policy(other, own), asked), Settled(attempt, StepKind.FALLBACK)


async def test_fallback_is_the_text_of_the_gate_that_led_to_it() -> None:
    job, settled = _fallback(ASKED, is_stream=False)
    client = FakeClient()

    await deliver(job, client, settled, [settled.attempt], Outcome.REPAIRED)

    reply = read_reply(client.body)
    assert (client.status, client.header("x-vendor")) == (200, "y")
    assert headers_named(client.headers, "content-type") == ["application/json"]
    assert [choice.content for choice in reply.choices] == ["Sorry."]
    assert reply.usage == Usage(9, 3)


@pytest.mark.parametrize("started", [False, True], ids=["silent", "kept alive"])
@pytest.mark.parametrize("is_stream", [False, True], ids=["body", "stream"])
async def test_fallback_is_a_stream_where_one_was_asked_for(started: bool, is_stream: bool) -> None:
    job, settled = _fallback(STREAMED, *stream(["b", "a"]).pieces[:2], is_stream=is_stream)
    client = FakeClient(started=started)

    await deliver(job, client, settled, [settled.attempt], Outcome.REPAIRED)

    kinds = headers_named(client.headers, "content-type")
    assert kinds == ([] if started else ["text/event-stream; charset=utf-8"])
    assert client.body.count(b'{"content":"Sorry."}') == 1
    assert client.body.endswith(b"data: [DONE]\n\n")
    assert client.ended


@pytest.mark.parametrize(
    ("n", "came", "said"),
    [(2, [0], [0, 1]), (0, [], [0]), (1, [0, 3], [0, 3]), (10**9, [], list(range(128)))],
    ids=["cut before all came", "none", "more than asked for", "absurd"],
)
async def test_every_choice_asked_for_gets_the_fallback(
    n: int, came: list[int], said: list[int]
) -> None:
    job, settled = _fallback(replace(ASKED, n=n), is_stream=False)
    settled.attempt.reply = Reply(tuple(Choice(index, "bad") for index in came)) if came else None
    settled.attempt.body = b""
    client = FakeClient()

    await deliver(job, client, settled, [settled.attempt], Outcome.REPAIRED)

    reply = json.loads(client.body)
    assert [choice["index"] for choice in reply["choices"]] == said
    assert (reply["id"], reply["model"]) == ("chatcmpl-r-1", "tiny")


async def test_repaired_content_replaces_the_old_one() -> None:
    client = FakeClient()
    attempt = _attempt(REPAIRED)

    settled = Settled(attempt, StepKind.DELIVER)
    await deliver(JOB, client, settled, [attempt], Outcome.REPAIRED)

    assert json.loads(client.body)["choices"][0]["message"]["content"] == "{}"


async def test_whole_reply_after_a_begun_stream_is_an_error() -> None:
    client = FakeClient(started=True)

    with pytest.raises(BadReply):
        await deliver(
            JOB, client, Settled(_attempt(), StepKind.DELIVER), [_attempt()], Outcome.PASSED
        )


async def test_advice_to_resend_of_the_upstream_is_not_handed_on() -> None:
    attempt = _attempt(status=429)
    attempt.headers = [("x-should-retry", "true"), ("retry-after", "3")]
    client = FakeClient()

    await relay_error_reply(JOB, client, [attempt], Outcome.REFUSED)

    assert headers_named(client.headers, "x-should-retry") == ["false"]
    assert client.header("retry-after") == "3"


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        (failed(Fault.DUPLICATE_KEY), "duplicate_key"),
        (Verdict("strict_json", Result.ERROR, reason="broke"), "gate_rejected"),
    ],
    ids=["fail", "error"],
)
def test_code_of_a_rejection_is_the_fault_where_there_is_one(verdict: Verdict, code: str) -> None:
    attempt = _attempt(verdict)

    assert rejection(Settled(attempt, StepKind.REJECT), [attempt]).code == code


def test_rejection_at_another_end_names_the_first_failure() -> None:
    attempt = _attempt()
    judged = Judged(rule(FakeGate("soft"), (StepKind.DELIVER,)), failed(reason="r"), enforced=True)
    attempt.judged = (judged,)

    error = rejection(Settled(attempt, StepKind.REJECT), [attempt, attempt])

    assert error.message == "The reply failed the gate soft after 2 attempts: r"


@pytest.mark.parametrize(
    ("text", "end"), [('{"a": 1}', StepKind.FALLBACK), ("Sorry.", StepKind.REJECT)]
)
def test_fallback_keeps_the_promise_of_json_or_is_none(text: str, end: StepKind) -> None:
    asked = replace(ASKED, response_format=b'{"type":"json_object"}')
    strict = rule(StrictJsonGate(StrictJsonOptions()))
    own = replace(rule(FakeGate("own"), (StepKind.FALLBACK,)), fallback_text=text)
    attempt = _attempt()
    attempt.judged = (Judged(own, failed(), enforced=True),)
    job = job_of(FakeLane(), policy(strict, own), asked)

    assert with_fitting_fallback(job, Settled(attempt, StepKind.FALLBACK)).end is end
    flagged = Settled(attempt, StepKind.FLAG)
    assert with_fitting_fallback(job, flagged) is flagged


def test_fallback_of_a_reply_without_promise_may_be_any_text() -> None:
    job, settled = _fallback(ASKED, is_stream=False)

    assert with_fitting_fallback(job, settled) is settled
