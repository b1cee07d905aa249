from dataclasses import replace

import pytest

from proxy.contract.policy import Match, Policy
from proxy.contract.policy_set import PolicySet
from proxy.errors import InvalidRequest
from tests.fakes.policies import policy

ALL = ("chat", "completions")


def named(name: str, models: str = "*", header: str | None = None) -> Policy:
    return replace(policy(), name=name, match=Match((models,), ALL, header))


def test_first_match_in_order_wins() -> None:
    policies = PolicySet([named("qwen", "Qwen/*"), named("any"), named("late")])

    assert policies.choose("Qwen/x", "chat", None) is policies.policies[0]
    assert policies.choose("other", "chat", None) is policies.policies[1]


def test_request_that_no_policy_covers_has_none() -> None:
    assert PolicySet([named("qwen", "Qwen/*")]).choose("other", "chat", None) is None
    assert PolicySet([named("any")]).choose("other", "messages", None) is None
    assert PolicySet([]).choose("", "chat", None) is None


def test_policy_with_a_header_is_chosen_by_it_alone() -> None:
    policies = PolicySet([named("strict", header="strict"), named("any")], ["strict"])

    assert policies.choose("m", "chat", None) is policies.policies[1]
    assert policies.choose("m", "chat", "strict") is policies.policies[0]


def test_header_wins_over_the_order() -> None:
    policies = PolicySet([named("any"), named("late")], ["late"])

    assert policies.choose("m", "chat", "late") is policies.policies[1]


def test_empty_header_counts_as_none() -> None:
    policies = PolicySet([named("any")])

    assert policies.choose("m", "chat", "") is policies.policies[0]


@pytest.mark.parametrize(
    ("header", "model", "message"),
    [
        pytest.param("absent", "Qwen/x", "no policy `absent`", id="unknown"),
        pytest.param("late", "Qwen/x", "no policy `late`", id="not allowed"),
        pytest.param("qwen", "other", "`qwen` is not for model `other` on chat", id="not covered"),
        pytest.param("x" * 9999, "m", f"no policy `{'x' * 64}`", id="long"),
    ],
)
def test_header_that_names_no_usable_policy_is_refused(
    header: str, model: str, message: str
) -> None:
    policies = PolicySet([named("qwen", "Qwen/*"), named("late")], ["qwen"])

    with pytest.raises(InvalidRequest) as caught:
        policies.choose(model, "chat", header)

    assert message in caught.value.message
    assert caught.value.code == "unknown_policy"
    assert caught.value.param == "x-sluicegate-policy"


def test_choices_are_kept_within_a_bound() -> None:
    policies = PolicySet([named("any")])

    for number in range(3000):
        policies.choose(f"m{number}", "chat", None)
    policies.choose("m2999", "chat", None)

    kept = policies._first_cached.cache_info()
    assert kept.currsize == 1024
    assert kept.hits == 1


def test_long_model_name_is_matched_but_not_kept() -> None:
    policies = PolicySet([named("any")])

    assert policies.choose("m" * 1000, "chat", None) is policies.policies[0]
    assert policies._first_cached.cache_info().currsize == 0
