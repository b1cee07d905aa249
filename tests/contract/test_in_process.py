import json
from dataclasses import replace
from pathlib import Path

import pytest

from proxy.contract.in_process import InProcessGate, full_kinds
from proxy.contract.policy import Policy
from proxy.contract.policy_file import load_policy
from proxy.errors import Unreachable
from proxy.gates.registry import gate_kinds
from proxy.telemetry.outcome import Outcome
from tests.fakes.lane import FakeLane, replying
from tests.fakes.upstream import completion

HEAD = "format: 1\nname: p\nattempts: {upstream_faults: none}\n"
BODY = json.dumps(
    {
        "model": "tiny",
        "messages": [{"role": "user", "content": "Where?"}],
        "response_format": {"type": "json_object"},
    }
).encode()


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    path = tmp_path / "p.yaml"
    path.write_text(HEAD + "gates: {strict_json: {on_fail: [same, reject]}}\n")
    return load_policy(path, full_kinds(gate_kinds()), ("main",))


async def test_reply_that_holds_is_delivered_as_it_came(policy: Policy) -> None:
    lane = FakeLane([replying(completion("{}"))])

    served = await InProcessGate(policy).serve(BODY, lane)

    assert (served.outcome, served.status) == (Outcome.PASSED, 200)
    assert json.loads(served.body)["choices"][0]["message"]["content"] == "{}"
    assert lane.calls[0].path == "/v1/chat/completions"


async def test_ladder_is_climbed_and_every_attempt_told(policy: Policy) -> None:
    lane = FakeLane([replying(completion("no")), replying(completion("no"))])

    served = await InProcessGate(policy).serve(BODY, lane)

    assert (served.outcome, served.status) == (Outcome.REJECTED, 422)
    assert [attempt.step for attempt in served.attempts] == ["first", "same"]
    assert all(attempt.verdicts[0].fault for attempt in served.attempts)


@pytest.mark.parametrize(("cold", "steps"), [(False, ["first", "same"]), (True, ["first", "cold"])])
async def test_engine_counts_as_warm_unless_said_otherwise(
    policy: Policy, *, cold: bool, steps: list[str]
) -> None:
    lane = FakeLane([replying(completion("no")), replying(completion("{}"))])
    wanted = replace(policy, attempts=replace(policy.attempts, cold=True))

    served = await InProcessGate(wanted, cold=cold).serve(BODY, lane)

    assert [attempt.step for attempt in served.attempts] == steps


async def test_upstream_that_is_away_becomes_an_outcome(policy: Policy) -> None:
    served = await InProcessGate(policy).serve(BODY, FakeLane([Unreachable("gone")]))

    assert (served.outcome, served.status) == (Outcome.UPSTREAM_FAILED, 503)


@pytest.mark.parametrize(
    "body",
    [b"{", b'{"model": "m", "messages": [], "response_format": {"type": "json_schema"}}'],
    ids=["no JSON", "a schema that is none"],
)
async def test_request_that_cannot_be_served_is_refused_before_any_call(
    policy: Policy, body: bytes
) -> None:
    lane = FakeLane()

    served = await InProcessGate(policy).serve(body, lane)

    assert (served.outcome, served.status) == (Outcome.REFUSED, 400)
    assert not served.attempts
    assert not lane.calls


def test_full_kinds_never_give_up_early() -> None:
    assert all(kind.build_light is None for kind in full_kinds(gate_kinds()).values())
