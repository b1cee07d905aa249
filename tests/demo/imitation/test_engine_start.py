import asyncio
from contextlib import aclosing

import pytest
from prometheus_client import generate_latest

from proxy.demo.imitation.answer import Answer, Part
from proxy.demo.imitation.asked import WrongRequest
from proxy.demo.imitation.engine_start import EngineStart
from tests.fakes.imitation import asked, chance, engine_start, samples, text_of

ANSWER = Answer("Boats wait in the basin until the levels are even.")


def page(start: EngineStart) -> dict[str, float]:
    return samples(generate_latest(start.metrics.registry).decode())


async def test_tokens_come_step_by_step_and_are_counted() -> None:
    start = engine_start()

    steps = [step async for step in start.generate(asked(), ANSWER, chance())]

    tokens = [token for step in steps for token in step]
    assert text_of(tokens, Part.CONTENT) == ANSWER.content
    assert len(steps) < len(tokens)
    assert page(start)["vllm:generation_tokens_total"] == len(tokens)
    assert page(start)["vllm:request_success_total"] == 1


async def test_steps_are_never_before_their_time() -> None:
    start = engine_start(speed=20)
    begun = start.pace.clock.now()

    async with aclosing(start.generate(asked(), ANSWER, chance())) as steps:
        await anext(steps)

    least = start.variant.ttfr_seconds * (1 - 3 * start.variant.ttfr_deviation) / 20
    assert start.pace.clock.now() - begun >= least


async def test_abandoned_request_counts_tokens_but_is_no_success() -> None:
    start = engine_start()

    async with aclosing(start.generate(asked(), ANSWER, chance())) as steps:
        await anext(steps)

    assert page(start)["vllm:generation_tokens_total"] == 1
    assert page(start)["vllm:request_success_total"] == 0
    assert start.seats.running == 0


async def test_no_more_run_at_once_than_there_are_seats() -> None:
    start = engine_start()
    most = 0

    async def one() -> None:
        nonlocal most
        async for _ in start.generate(asked(), ANSWER, chance()):
            most = max(most, start.seats.running)

    async with asyncio.TaskGroup() as group:
        for _ in range(9):
            group.create_task(one())

    assert most == 4
    assert page(start)["vllm:request_success_total"] == 9


def test_chance_of_the_nth_request_is_always_the_same() -> None:
    first, again = engine_start(), engine_start()

    assert [first.next_chance().random() for _ in range(3)] == [
        again.next_chance().random() for _ in range(3)
    ]


def test_foreign_model_is_not_found() -> None:
    with pytest.raises(WrongRequest, match="does not exist") as caught:
        engine_start().check(asked(model="qwen"))

    assert caught.value.status == 404


def test_prompt_beyond_the_context_is_refused() -> None:
    with pytest.raises(WrongRequest, match="maximum context length is 262144"):
        engine_start().check(asked(max_tokens=262_144))
