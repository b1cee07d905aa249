import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.demo.imitation.schedule import Step, schedule
from proxy.demo.imitation.variant import VariantName
from tests.fakes.imitation import chance, variant

NAMES = list(VariantName)
MANY = 300


def schedules(name: VariantName, tokens: int) -> list[tuple[Step, ...]]:
    return [schedule(variant(name), tokens, chance(seed)) for seed in range(MANY)]


def rate(steps: tuple[Step, ...], tokens: int) -> float:
    """As the proxy reckons it: (n - 1) / (last - first)."""
    return (tokens - 1) / (steps[-1].at_seconds - steps[0].at_seconds)


@pytest.mark.parametrize("name", NAMES)
def test_mean_time_to_first_response_is_the_variant_s(name: VariantName) -> None:
    first = statistics.fmean(steps[0].at_seconds for steps in schedules(name, 32))

    assert first == pytest.approx(variant(name).ttfr_seconds, rel=0.02)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tokens", [32, 128, 256, 512])
def test_mean_decode_rate_is_close_to_the_variant_s(name: VariantName, tokens: int) -> None:
    mean = statistics.fmean(rate(steps, tokens) for steps in schedules(name, tokens))

    assert mean == pytest.approx(variant(name).rates[tokens].value, rel=0.05)


def test_spread_of_nvfp4_is_the_largest_of_the_mtp_variants() -> None:
    spreads = {
        name: statistics.stdev(rate(steps, 512) for steps in schedules(name, 512))
        for name in (VariantName.MTP1, VariantName.MTP2, VariantName.NVFP4)
    }

    assert max(spreads, key=lambda name: spreads[name]) is VariantName.NVFP4


@given(st.sampled_from(NAMES), st.integers(1, 600), st.integers())
def test_steps_bring_every_token_once_and_in_time(
    name: VariantName, tokens: int, seed: int
) -> None:
    steps = schedule(variant(name), tokens, chance(seed))

    assert sum(step.tokens for step in steps) == tokens
    assert [step.at_seconds for step in steps] == sorted(step.at_seconds for step in steps)
    assert steps[0] == Step(steps[0].at_seconds, 1)
    assert all(step.drafted == variant(name).draft_tokens for step in steps[1:])
    assert all(0 < step.tokens <= 1 + step.accepted <= 1 + step.drafted for step in steps[1:])


def test_one_draft_token_brings_one_or_two_tokens() -> None:
    steps = schedule(variant(VariantName.MTP1), 400, chance(1))

    assert {step.tokens for step in steps} == {1, 2}


def test_same_chance_gives_the_same_schedule() -> None:
    first, again = (schedule(variant(), 200, chance(7)) for _ in range(2))

    assert first == again
