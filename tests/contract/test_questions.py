import json

import pytest

from proxy.contract.claim_judges import ClaimJudges, JudgeLane
from proxy.contract.questions import NoAnswers, UpstreamAnswers
from proxy.errors import Unreachable
from proxy.gates.questions import (
    Claim,
    CountTokens,
    JudgeClaims,
    Judgement,
    Judgements,
    Opinion,
    TokenCounts,
    Unanswered,
)
from proxy.wire.request import Request
from tests.fakes.lane import FakeLane, FakeReply, replying
from tests.fakes.upstream import Scripted, completion

ASKED = Request(b"{}", model="tiny")
QUESTION = CountTokens(("Grüße", "b"))
CLAIMS = JudgeClaims("judge", 4.0, ("Ein Satz.",), (Claim("x", "x"),))


def _counted(count: object) -> FakeReply:
    body = {"count": count, "max_model_len": 4096, "tokens": [1, 2, 3]}
    return replying(Scripted((json.dumps(body).encode(),)))


async def test_each_text_is_counted_by_the_model_of_the_request_without_special_tokens() -> None:
    lane = FakeLane([_counted(3), _counted(1)])

    answer = await UpstreamAnswers(lane).answer(QUESTION, ASKED)

    assert answer == TokenCounts((3, 1))
    assert [(call.method, call.path) for call in lane.calls] == [("POST", "/tokenize")] * 2
    assert json.loads(lane.calls[0].body) == {
        "model": "tiny",
        "prompt": "Grüße",
        "add_special_tokens": False,
    }
    assert all(reply.closed for reply in lane.replies)


@pytest.mark.parametrize(
    "script",
    [
        [replying(Scripted((b'{"detail":"Not Found"}',), status=404))],
        [replying(Scripted((b"<html>",)))],
        [_counted("many")],
        [_counted(3), replying(Scripted((b"{}",)))],
        [replying(Scripted((b" " * 9_000_000, b" " * 9_000_000)))],
        [Unreachable("nobody is there")],
    ],
    ids=["status", "no_json", "no_number", "second", "too_large", "unreachable"],
)
async def test_upstream_that_does_not_count_leaves_the_question_open(
    script: list[FakeReply | Unreachable],
) -> None:
    answer = await UpstreamAnswers(FakeLane([*script])).answer(QUESTION, ASKED)

    assert isinstance(answer, Unanswered)
    assert answer.reason.startswith("The upstream did not count the tokens: ")


async def test_upstream_that_is_silent_is_given_up() -> None:
    lane = FakeLane([FakeReply(hangs=True)])

    answer = await UpstreamAnswers(lane, seconds=0.01).answer(QUESTION, ASKED)

    assert answer == Unanswered("The upstream did not count the tokens within 0.01 s.")


async def test_lane_that_does_not_speak_vllm_is_not_asked() -> None:
    lane = FakeLane(speaks_vllm=False)

    answer = await UpstreamAnswers(lane).answer(QUESTION, ASKED)

    assert answer == Unanswered("The lane `main` cannot count tokens.")
    assert not lane.calls


async def test_where_nobody_answers_every_question_stays_open() -> None:
    assert isinstance(await NoAnswers().answer(QUESTION, ASKED), Unanswered)


async def test_claims_are_judged_by_the_lane_that_is_named_and_no_other() -> None:
    said = {"claims": [{"claim": 1, "verdict": "unknown", "sentence": 0, "quote": ""}]}
    main, other = FakeLane(), FakeLane([replying(completion(json.dumps(said)))], name="judge")
    judges = ClaimJudges({"judge": JudgeLane(other, "m")}, lambda: 0.0, lambda _: None)

    answer = await UpstreamAnswers(main, judges).answer(CLAIMS, ASKED)

    assert answer == Judgements((Judgement(Opinion.UNKNOWN),))
    assert (len(main.calls), len(other.calls)) == (0, 1)


async def test_claims_stay_open_where_nobody_judges() -> None:
    answer = await UpstreamAnswers(FakeLane()).answer(CLAIMS, ASKED)

    assert answer == Unanswered("There is no judge here to ask.")
