import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typing_extensions import override

from proxy.errors import BadReply, Unreachable, UpstreamError
from proxy.telemetry.engine_start import StartSource
from proxy.upstream.engine import Engine, EngineState
from proxy.upstream.lane import Call, UpstreamReply
from proxy.upstream.poller import EnginePoller
from tests.fakes.engine import Told, record_of, seen_engine, unseen_engine
from tests.fakes.lane import FakeLane, FakeReply

PAGE = b"process_start_time_seconds 1.0\nvllm:prompt_tokens_total 0\n"
OTHER = PAGE.replace(b"1.0", b"2.0")
RECORDED = Path(__file__).parents[1] / "recorded"

Answer = FakeReply | UpstreamError


def _page(page: bytes = PAGE) -> FakeReply:
    return FakeReply((page,))


def _none() -> FakeReply:
    return FakeReply((b"Not Found",), status=404)


def _poller(engine: Engine, *answers: Answer, timeout_seconds: float = 1.0) -> EnginePoller:
    lane = FakeLane(list(answers))
    return EnginePoller(lane, engine, poll_seconds=0, timeout_seconds=timeout_seconds)


async def _looked(*answers: Answer, looks: int = 1) -> tuple[Engine, Told]:
    """An engine after so many looks; calls for facts are answers of the script too."""
    engine, told = unseen_engine()
    poller = _poller(engine, *answers)
    for _ in range(looks):
        await poller.look()
    return engine, told


async def test_page_of_counters_tells_engine_starts_apart() -> None:
    engine, _ = await _looked(FakeReply((PAGE[:9], PAGE[9:])), _none(), _none())

    assert engine.state is EngineState.COLD
    assert engine.source is StartSource.METRICS


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (_none(), EngineState.COLD),
        (FakeReply((b"{}",), status=500), EngineState.COLD),
        (FakeReply((b"\x00garbage",)), EngineState.COLD),
        (FakeReply((b"loading",), status=503), EngineState.LOADING),
        (FakeReply((b"no engine",), status=502), EngineState.UNREACHABLE),
        (Unreachable("gone"), EngineState.UNREACHABLE),
        (FakeReply((PAGE, b"x" * (5 << 20))), EngineState.COLD),
    ],
    ids=["no_metrics", "error", "garbage", "loading", "no_engine", "unreachable", "huge"],
)
async def test_state_follows_from_the_answer(answer: Answer, state: EngineState) -> None:
    engine, _ = await _looked(answer, _none(), _none())

    assert engine.state is state
    assert engine.source is StartSource.FALLBACK


@pytest.mark.parametrize(
    "answer",
    [
        lambda: BadReply("garbage"),
        lambda: FakeReply(hangs=True),
        lambda: FakeReply((PAGE,), error=BadReply("cut")),
    ],
    ids=["no_http", "silence", "broken_off"],
)
@pytest.mark.parametrize("known", [True, False])
async def test_page_that_says_nothing_changes_nothing(
    answer: Callable[[], Answer], known: bool
) -> None:
    engine, told = seen_engine() if known else unseen_engine()
    before = engine.state, len(told.records)

    await _poller(engine, answer(), timeout_seconds=0.01).look()

    assert (engine.state, len(told.records)) == before


class SlowlyGone(FakeLane):
    """A lane that gives up to connect by itself, but later than a first look waits."""

    @override
    async def open(self, call: Call) -> UpstreamReply:
        await asyncio.sleep(0.4)
        raise Unreachable("gone")


async def test_connection_that_is_given_up_late_is_told_from_silence_by_the_next_look() -> None:
    engine, _ = seen_engine()
    poller = EnginePoller(SlowlyGone(), engine, poll_seconds=0, timeout_seconds=0.2)

    await poller.look()
    silent = engine.state
    await poller.look()

    assert (silent, engine.state) == (EngineState.COLD, EngineState.UNREACHABLE)


async def test_looks_that_stay_without_answer_leave_the_starts_to_the_fallback() -> None:
    engine, told = unseen_engine()
    poller = _poller(engine, *(FakeReply(hangs=True) for _ in range(2)), timeout_seconds=0.01)
    engine.saw_alive()

    await poller.look()
    after_one = len(told.records)
    await poller.look()

    assert (after_one, len(told.records)) == (0, 1)
    assert engine.source is StartSource.FALLBACK


async def test_counters_that_vanish_and_return_make_no_new_start() -> None:
    answers = [_page(), _none(), _none(), _none(), FakeReply(status=500), _page()]

    engine, told = await _looked(*answers, looks=4)

    assert len(told.latest) == 1
    assert engine.source is StartSource.METRICS


async def test_facts_are_read_once_for_each_start() -> None:
    models = {"data": [{"id": "tiny", "root": "/models/tiny", "max_model_len": 2048}]}
    facts = [FakeReply((b'{"version":"0.32.0"}',)), FakeReply((json.dumps(models).encode(),))]
    real = (RECORDED / "vllm_metrics_ngram.txt").read_bytes()
    engine, told = unseen_engine()
    lane = FakeLane([_page(real), *facts, _page(real), _page(OTHER), _none(), _none()])
    poller = EnginePoller(lane, engine, poll_seconds=0, timeout_seconds=1)

    for _ in range(3):
        await poller.look()

    paths = [call.path for call in lane.calls]
    assert paths == ["/metrics", "/version", "/v1/models", "/metrics", *paths[:3]]
    first, second = told.latest.values()
    assert first.facts == {
        "vllm": "0.32.0",
        "model": "tiny",
        "root": "/models/tiny",
        "max_model_len": "2048",
        "num_gpu_blocks": "364",
        "block_size": "128",
        "cache_dtype": "auto",
        "enable_prefix_caching": "True",
        "gpu_memory_utilization": "0.92",
        "speculative": "True",
        "speculative_tokens": "2",
    }
    assert second.facts == {"speculative": "False"}


@pytest.mark.parametrize(
    "answer",
    [BadReply("no"), FakeReply(hangs=True), Unreachable("gone")],
    ids=["broken", "silent", "gone"],
)
async def test_facts_that_cannot_be_read_are_tried_three_times(answer: Answer) -> None:
    engine, _ = unseen_engine()
    lane = FakeLane([])
    poller = EnginePoller(lane, engine, poll_seconds=0, timeout_seconds=0.3)

    for _ in range(5):
        lane.script = [_page(), answer]
        await poller.look()

    assert [call.path for call in lane.calls].count("/version") == 3
    assert record_of(engine).facts == {}
    assert engine.state is EngineState.COLD


async def test_facts_of_a_remembered_start_are_read_once_more_and_added() -> None:
    engine, _ = unseen_engine()
    engine.saw_page(None)
    engine.learn(engine.start, {"vllm": "0.31.0", "attention_backend": "FLASHINFER"})
    lane = FakeLane([_none(), FakeReply((b'{"version":"0.32.0"}',)), _none(), _none()])
    poller = EnginePoller(lane, engine, poll_seconds=0, timeout_seconds=1)

    await poller.look()
    await poller.look()

    paths = [call.path for call in lane.calls]
    assert paths == ["/metrics", "/version", "/v1/models", "/metrics"]
    assert record_of(engine).facts == {"vllm": "0.32.0", "attention_backend": "FLASHINFER"}


async def test_fact_that_is_too_long_is_left_out() -> None:
    body = b'{"version":"' + b"9" * (100 << 10) + b'"}'

    engine, _ = await _looked(_page(), FakeReply((body,)), _none())

    assert "vllm" not in record_of(engine).facts


async def test_looks_come_one_after_the_other() -> None:
    engine, told = unseen_engine()
    poller = _poller(engine, _page(), _none(), _none(), _page(OTHER), _none(), _none())

    await asyncio.gather(poller.look(), poller.look())

    assert list(told.latest) == ["1.0", "2.0"]


async def test_polling_goes_on_until_it_is_cancelled() -> None:
    engine, _ = seen_engine()
    lane = FakeLane([_page(), _none(), _none(), _page(), _page()])
    poller = EnginePoller(lane, engine, poll_seconds=0, timeout_seconds=1)

    task = asyncio.create_task(poller.run())
    async with asyncio.timeout(5):
        while lane.script:  # noqa: ASYNC110 - a fake has no event
            await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert all(reply.closed for reply in lane.replies)
