import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from proxy.contract.claim_judges import ClaimJudges, JudgeCall, JudgeLane
from proxy.errors import BadReply, TimedOut, Unreachable, UpstreamError
from proxy.gates.questions import Claim, JudgeClaims, Judgement, Judgements, Opinion, Unanswered
from proxy.telemetry.outcome import JudgeResult
from tests.fakes.job import FakeClock
from tests.fakes.lane import FakeLane, FakeReply, replying
from tests.fakes.upstream import Scripted, completion

QUESTION = JudgeClaims("judge", 4.0, ("Ein Mast brach.",), (Claim("Mast", "Ein Mast."),))
SAID = {"claim": 1, "verdict": "supported", "sentence": 1, "quote": "Ein Mast brach"}
GOOD = completion(json.dumps({"claims": [SAID]}), usage=(210, 31))
JUDGED = Judgements((Judgement(Opinion.SUPPORTED, 1, "Ein Mast brach"),))


@dataclass
class Bench:
    """The judge lane `judge` over a script, and the calls that were counted."""

    script: list[FakeReply | UpstreamError]
    model: str = "settled"
    counted: list[JudgeCall] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = FakeClock()
        self.lane = FakeLane(self.script, name="judge")
        lanes = {"judge": JudgeLane(self.lane, self.model)}
        self.judges = ClaimJudges(lanes, self.clock.now, self.counted.append)

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(call.body) for call in self.lane.calls if call.method == "POST"]


async def test_claims_are_judged_by_one_call_without_a_client_s_header() -> None:
    bench = Bench([replying(GOOD)])

    answer = await bench.judges.answer(QUESTION)

    (call,) = bench.lane.calls
    assert answer == JUDGED
    assert (call.method, call.path) == ("POST", "/v1/chat/completions")
    assert list(call.headers) == [("content-type", "application/json")]
    assert bench.bodies[0]["model"] == "settled"
    assert bench.counted == [JudgeCall(JudgeResult.ANSWERED, 0.0, 210, 31)]
    assert all(reply.closed for reply in bench.lane.replies)


async def test_lane_without_a_model_is_asked_once_which_it_serves() -> None:
    listed = replying(Scripted((b'{"data":[{"id":"small"}]}',)))
    bench = Bench([listed, replying(GOOD), replying(GOOD)], model="")

    await bench.judges.answer(QUESTION)
    await bench.judges.answer(QUESTION)

    assert [call.path for call in bench.lane.calls].count("/v1/models") == 1
    assert [body["model"] for body in bench.bodies] == ["small", "small"]


async def test_served_model_is_asked_again_after_a_refusal() -> None:
    first, second = (
        replying(Scripted((json.dumps({"data": [{"id": name}]}).encode(),)))
        for name in ("old", "new")
    )
    refusal = replying(Scripted((b"{}",), status=404))
    bench = Bench([first, refusal, second, replying(GOOD)], model="")

    refused = await bench.judges.answer(QUESTION)
    answer = await bench.judges.answer(QUESTION)

    assert refused == Unanswered("The lane `judge` failed: it answered 404.")
    assert answer == JUDGED
    assert [body["model"] for body in bench.bodies] == ["old", "new"]


@pytest.mark.parametrize(
    ("reply", "result", "told"),
    [
        (Unreachable("nobody is there"), JudgeResult.FAILED, "failed: nobody is there"),
        (TimedOut("too late"), JudgeResult.TIMED_OUT, "did not answer within 4 s."),
        (FakeReply(error=BadReply("broke off")), JudgeResult.FAILED, "failed: broke off"),
        (replying(Scripted((b"{}",), status=500)), JudgeResult.FAILED, "it answered 500."),
        (replying(Scripted((b"{}",), status=401)), JudgeResult.FAILED, "it answered 401."),
        (
            replying(Scripted((b" " * 3_000_000, b" " * 3_000_000))),
            JudgeResult.FAILED,
            "it answered with too much.",
        ),
        (replying(Scripted((b"<html>",))), JudgeResult.UNREADABLE, "no chat completion."),
        (replying(Scripted((b"{}",))), JudgeResult.UNREADABLE, "its answer is empty."),
        (
            replying(Scripted((b'{"error":{"message":"private words"},"choices":[]}',))),
            JudgeResult.UNREADABLE,
            "its answer is empty.",
        ),
        (replying(completion(None)), JudgeResult.UNREADABLE, "its answer is empty."),
    ],
    ids=[
        "unreachable",
        "silent",
        "broken",
        "500",
        "401",
        "too_large",
        "no_json",
        "no_choice",
        "error_object",
        "no_content",
    ],
)
async def test_lane_that_fails_leaves_the_question_open(
    reply: FakeReply | UpstreamError, result: JudgeResult, told: str
) -> None:
    bench = Bench([reply])

    answer = await bench.judges.answer(QUESTION)

    assert isinstance(answer, Unanswered)
    assert answer.reason.startswith("The lane `judge` ")
    assert answer.reason.endswith(told)
    assert "private" not in answer.reason
    assert [call.result for call in bench.counted] == [result]


async def test_prose_costs_its_tokens_and_says_nothing() -> None:
    bench = Bench([replying(completion("Everything is supported, trust me.", usage=(200, 9)))])

    answer = await bench.judges.answer(QUESTION)

    assert answer == Unanswered(
        "The lane `judge` cannot be understood: its answer is no JSON document."
    )
    assert bench.counted == [JudgeCall(JudgeResult.UNREADABLE, 0.0, 200, 9)]


async def test_silent_lane_is_given_up_at_the_time_limit() -> None:
    bench = Bench([FakeReply(hangs=True)])
    hasty = JudgeClaims("judge", 0.01, QUESTION.sentences, QUESTION.claims)

    answer = await bench.judges.answer(hasty)

    assert answer == Unanswered("The lane `judge` did not answer within 0.01 s.")
    assert [call.result for call in bench.counted] == [JudgeResult.TIMED_OUT]
    assert all(reply.closed for reply in bench.lane.replies)


async def test_lane_that_is_not_there_is_not_asked() -> None:
    bench = Bench([])
    other = JudgeClaims("other", 4.0, (), ())

    assert await bench.judges.answer(other) == Unanswered("There is no lane `other`.")
    assert bench.counted == []
