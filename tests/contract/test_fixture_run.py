import json
from dataclasses import replace

import pytest

from proxy.contract.fixture_file import Fixture, FixtureReply
from proxy.contract.fixture_run import run_fixtures
from proxy.contract.policy import StepKind
from proxy.errors import Fault, Place
from proxy.gates.base import Result, Verdict
from tests.fakes.policies import FakeGate, failed, policy, rule

REQUEST = b'{"model": "any", "messages": []}'
PASSING = FakeGate(verdict=Verdict("strict_json", Result.PASS))
FAILING = FakeGate(verdict=failed(Fault.NOT_JSON, place="choices[0].message.content"))
TWICE = (StepKind.VARY, StepKind.FLAG)


def reply(content: str, **verdicts: str) -> FixtureReply:
    choice = {"index": 0, "message": {"content": content}, "finish_reason": "stop"}
    return FixtureReply(json.dumps({"choices": [choice]}).encode(), verdicts)


def fixture(*replies: FixtureReply, outcome: str = "passed") -> Fixture:
    return Fixture("a fact", Place("f.yaml", 3, 5), REQUEST, replies, outcome)


async def lines_of(one: Fixture, gate: FakeGate, ladder: tuple[StepKind, ...] = TWICE) -> list[str]:
    found = await run_fixtures(policy(rule(gate, ladder)), [one])
    assert all(difference.fixture is one for difference in found)
    return [line for difference in found for line in difference.lines]


async def test_fixture_that_holds_makes_no_difference() -> None:
    assert await lines_of(fixture(reply("Hi.", strict_json="pass")), PASSING) == []


async def test_every_reply_has_its_own_verdicts() -> None:
    one = fixture(
        reply("a", strict_json="not_json"), reply("b", strict_json="not_json"), outcome="flagged"
    )

    assert await lines_of(one, FAILING) == []


async def test_gate_that_is_not_named_must_find_no_fault() -> None:
    found = await lines_of(fixture(reply("a"), reply("b"), outcome="flagged"), FAILING)

    assert found == [
        "reply 1, strict_json: expected no fault, got not_json at choices[0].message.content",
        "reply 2, strict_json: expected no fault, got not_json at choices[0].message.content",
    ]


async def test_fail_stands_for_any_fault() -> None:
    one = fixture(reply("a", strict_json="fail"), reply("b", strict_json="fail"), outcome="flagged")

    assert await lines_of(one, FAILING) == []


async def test_other_outcome_is_told() -> None:
    found = await lines_of(fixture(reply("Hi."), outcome="rejected"), PASSING)

    assert found == ["outcome: expected rejected, got passed"]


@pytest.mark.parametrize(
    ("count", "told"),
    [(1, "the policy asks for 2, the fixture has 1"), (3, "asks for 2, the fixture has 3")],
)
async def test_replies_must_be_exactly_those_that_the_policy_asks_for(
    count: int, told: str
) -> None:
    replies = [reply("a", strict_json="not_json")] * count

    found = await lines_of(fixture(*replies, outcome="flagged"), FAILING)

    assert len(found) == 1
    assert told in found[0]


async def test_gate_that_does_not_apply_has_no_verdict() -> None:
    found = await lines_of(fixture(reply("a", strict_json="pass")), FakeGate(applies_to=False))

    assert found == ["reply 1, strict_json: expected pass, got no verdict, since it does not apply"]


async def test_other_content_than_is_to_be_delivered_is_told() -> None:
    one = replace(fixture(reply("a" * 200)), delivers="b")

    found = await lines_of(one, PASSING)

    assert found == [f'delivers: expected "b", got "{"a" * 120}..."']


async def test_error_delivers_no_content() -> None:
    one = replace(fixture(reply("a", strict_json="not_json"), outcome="rejected"), delivers="b")

    found = await lines_of(one, FAILING, (StepKind.REJECT,))

    assert found == ['delivers: expected "b", got no content']


async def test_refused_request_asks_for_no_reply() -> None:
    assert await lines_of(fixture(outcome="refused"), FakeGate(refuses=True)) == []


async def test_policy_that_asks_where_nothing_must_be_asked_is_told() -> None:
    found = await lines_of(fixture(outcome="refused"), PASSING)

    assert found[0] == "replies: the policy asks for 1, the fixture has 0"
