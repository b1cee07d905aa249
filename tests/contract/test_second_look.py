from dataclasses import dataclass

import pytest
from typing_extensions import override

from proxy.contract.readiness import Looks
from proxy.contract.second_look import SecondLook
from proxy.errors import BadReply, Unreachable, UpstreamError
from proxy.upstream.engine import EngineState
from tests.fakes.job import new_engine
from tests.fakes.lane import FakeLane, FakeReply


@dataclass
class _Blind(Looks):
    count: int = 0

    @override
    async def look(self) -> None:
        self.count += 1


async def _state_after(answer: FakeReply | UpstreamError) -> EngineState:
    engine, _ = new_engine()
    engine.saw_unreachable()
    await SecondLook(_Blind(), FakeLane([answer]), engine, 0.05).look()
    return engine.state


@pytest.mark.parametrize("status", [200, 401, 404, 500])
async def test_engine_that_answers_anything_is_not_away(status: int) -> None:
    assert await _state_after(FakeReply(status=status)) is EngineState.COLD


@pytest.mark.parametrize(
    "answer",
    [
        Unreachable("gone"),
        BadReply("cut"),
        *(FakeReply(status=status) for status in (502, 503, 504)),
    ],
    ids=["gone", "cut", "502", "503", "504"],
)
async def test_engine_that_answers_nothing_stays_away(answer: FakeReply | UpstreamError) -> None:
    assert await _state_after(answer) is EngineState.UNREACHABLE


async def test_engine_that_is_not_away_is_not_looked_at_twice() -> None:
    engine, _ = new_engine()
    first, lane = _Blind(), FakeLane()

    await SecondLook(first, lane, engine, 1).look()

    assert first.count == 1
    assert lane.calls == []
