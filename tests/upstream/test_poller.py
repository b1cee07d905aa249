import asyncio

import pytest

from proxy.errors import BadReply, Unreachable, UpstreamError
from proxy.upstream.engine import Engine, EngineStart, EngineState, FirstAnswer, StartSource
from proxy.upstream.poller import EnginePoller
from tests.fakes.lane import FakeLane, FakeReply

PAGE = b"process_start_time_seconds 1.0\nvllm:prompt_tokens_total 0\n"


def _ignore(_: EngineStart, __: FirstAnswer) -> None:
    return None


async def _look(answer: FakeReply | UpstreamError, timeout_seconds: float = 1.0) -> Engine:
    engine = Engine(_ignore)
    lane = FakeLane([answer])
    await EnginePoller(lane, engine, poll_seconds=1, timeout_seconds=timeout_seconds).look()
    assert [call.path for call in lane.calls] == ["/metrics"]
    return engine


async def test_page_of_counters_tells_engine_starts_apart() -> None:
    engine = await _look(FakeReply((PAGE[:9], PAGE[9:])))

    assert engine.state is EngineState.COLD
    assert engine.source is StartSource.METRICS


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (FakeReply((b"Not Found",), status=404), EngineState.COLD),
        (FakeReply((b"loading",), status=503), EngineState.LOADING),
        (Unreachable("gone"), EngineState.UNREACHABLE),
        (FakeReply((b"x" * (5 << 20),)), EngineState.COLD),
    ],
    ids=["no_metrics", "loading", "unreachable", "huge"],
)
async def test_state_follows_from_the_answer(
    answer: FakeReply | UpstreamError, state: EngineState
) -> None:
    assert (await _look(answer)).state is state


@pytest.mark.parametrize(
    "answer", [BadReply("garbage"), FakeReply(hangs=True)], ids=["garbage", "silence"]
)
async def test_page_that_says_nothing_changes_nothing(answer: FakeReply | UpstreamError) -> None:
    engine = await _look(answer, timeout_seconds=0.01)

    assert engine._reachable is None


async def test_polling_goes_on_until_it_is_cancelled() -> None:
    lane = FakeLane([FakeReply((PAGE,)) for _ in range(3)])
    poller = EnginePoller(lane, Engine(_ignore), poll_seconds=0, timeout_seconds=1)

    task = asyncio.create_task(poller.run())
    async with asyncio.timeout(5):
        while lane.script:  # noqa: ASYNC110 - a fake has no event
            await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert all(reply.closed for reply in lane.replies)
