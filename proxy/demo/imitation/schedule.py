"""When the tokens of one reply are due: a pure function of variant, length and chance."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from proxy.demo.imitation.variant import Variant


@dataclass(frozen=True, slots=True)
class Step:
    """What one step of the engine brings, and when, in seconds after the request was begun."""

    at_seconds: float
    tokens: int
    drafted: int = 0
    accepted: int = 0


def schedule(variant: Variant, tokens: int, chance: random.Random) -> tuple[Step, ...]:
    """The steps of a reply of so many tokens; the prefill brings the first one.

    A step is the model's own token and the accepted drafts before it, so with one draft token it
    brings one or two. Its time is the variant's, scaled by one factor for the whole reply.
    """
    return tuple(_steps(variant, tokens, chance))


def _steps(variant: Variant, tokens: int, chance: random.Random) -> Iterator[Step]:
    at = variant.ttfr_seconds * _factor(chance, variant.ttfr_deviation)
    pause = variant.step_seconds * _factor(chance, variant.rate_deviation)
    acceptance = variant.acceptance(tokens)
    if not variant.draft_tokens:
        pause *= 1 / (variant.tokens_per_second(tokens) * variant.step_seconds)
    yield Step(at, 1)
    left = tokens - 1
    while left > 0:
        at += pause
        accepted = _accepted(variant.draft_tokens, acceptance, chance)
        yield Step(at, min(left, 1 + accepted), variant.draft_tokens, accepted)
        left -= 1 + accepted


def _factor(chance: random.Random, deviation: float) -> float:
    """About 1; a reply is never faster than by three deviations."""
    return 1 + deviation * max(-3.0, chance.gauss())


def _accepted(drafted: int, acceptance: float, chance: random.Random) -> int:
    """Draft tokens up to the first that is rejected."""
    return next((n for n in range(drafted) if chance.random() >= acceptance), drafted)
