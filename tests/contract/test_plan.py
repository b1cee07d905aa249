import pytest
from typing_extensions import override

from proxy.contract.plan import Way
from proxy.contract.policy import Mode, Policy, StreamMode
from proxy.errors import InvalidRequest
from proxy.telemetry.outcome import Endpoint, Unchecked
from proxy.wire.request import Request
from tests.fakes.job import plan_of
from tests.fakes.policies import FakeGate, policy, rule

ASKED = Request(b"{}", stream=True)


def _way(made: Policy | None, *, observe: bool = False) -> Way:
    return plan_of(ASKED, Endpoint.CHAT, made, observe=observe).way


def test_no_policy_is_relayed_and_counted() -> None:
    plan = plan_of(ASKED, Endpoint.CHAT, None, observe=False)

    assert plan.way is Way.PASS
    assert plan.unchecked == (Unchecked.NO_POLICY,)


def test_surface_without_gates_is_relayed_and_counted() -> None:
    plan = plan_of(ASKED, Endpoint.RESPONSES, policy(rule()), observe=False)

    assert plan.way is Way.PASS
    assert plan.unchecked == (Unchecked.SURFACE,)


def test_enforced_gate_holds() -> None:
    assert _way(policy(rule())) is Way.HOLD


def test_gate_that_does_not_apply_lets_pass() -> None:
    assert _way(policy(rule(FakeGate(applies_to=False)))) is Way.PASS


def test_policy_may_let_streams_pass_but_never_whole_replies() -> None:
    passing = policy(rule(), stream=StreamMode.PASS)
    whole = plan_of(Request(b"{}"), Endpoint.CHAT, passing, observe=False)

    assert _way(passing) is Way.PASS
    assert whole.way is Way.HOLD


@pytest.mark.parametrize(
    ("made", "observe"),
    [
        (policy(rule(), mode=Mode.OBSERVE), False),
        (policy(rule(mode=Mode.OBSERVE)), False),
        (policy(rule()), True),
    ],
    ids=["policy", "gate", "everything"],
)
def test_observed_gate_is_judged_and_holds_nothing(made: Policy, observe: bool) -> None:
    plan = plan_of(ASKED, Endpoint.CHAT, made, observe=observe)

    assert plan.way is Way.PASS
    assert len(plan.observed) == 1
    assert not plan.enforced


def test_request_s_own_broken_contract_is_refused_before_the_upstream() -> None:
    with pytest.raises(InvalidRequest):
        plan_of(ASKED, Endpoint.CHAT, policy(rule(FakeGate(refuses=True))), observe=False)


def test_observing_gate_refuses_nothing() -> None:
    made = policy(rule(FakeGate(refuses=True)))

    plan = plan_of(ASKED, Endpoint.CHAT, made, observe=True)

    assert plan.rules == ()


class _BrokenGate(FakeGate):
    @override
    def applies(self, request: Request) -> bool:
        raise RuntimeError("broken")


@pytest.mark.parametrize("observe", [False, True])
def test_gate_that_breaks_is_asked_to_judge_all_the_same(observe: bool) -> None:
    plan = plan_of(ASKED, Endpoint.CHAT, policy(rule(_BrokenGate())), observe=observe)

    assert len(plan.rules) == 1
    assert plan.way is (Way.PASS if observe else Way.HOLD)
