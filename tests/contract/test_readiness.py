import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from typing_extensions import override

from proxy.contract.probe_options import OnFail
from proxy.contract.readiness import EngineReadiness, Looks, WaitBounds
from proxy.errors import NotReady
from proxy.telemetry.outcome import ReadyWait
from proxy.upstream.counters import Counters
from proxy.upstream.engine import Engine
from tests.fakes.gate import eventually
from tests.fakes.job import new_engine
from tests.fakes.lane import FakeLane, FakeReply
from tests.fakes.probe import INVALID, VALID, new_probe, probe_script

SERVED, REFUSED, GONE = ReadyWait.SERVED, ReadyWait.REFUSED, ReadyWait.GONE


@dataclass
class FakeLooks(Looks):
    """What each look sees; after the last one all is as it was."""

    engine: Engine
    sights: list[Callable[[], None]] = field(default_factory=list)
    count: int = 0

    @override
    async def look(self) -> None:
        self.count += 1
        await asyncio.sleep(0)
        if self.sights:
            self.sights.pop(0)()


@dataclass
class Ready:
    """A readiness that runs, and what it counted."""

    readiness: EngineReadiness
    engine: Engine
    looks: FakeLooks
    waits: list[ReadyWait] = field(default_factory=list)
    order: list[Any] = field(default_factory=list)

    async def wait(self, name: Any) -> None:
        """A request on its way: it notes when it may go."""
        await self.readiness.wait()
        self.order.append(name)

    def waiting(self, *names: Any) -> "list[asyncio.Task[None]]":
        return [asyncio.create_task(self.wait(name)) for name in names]


def _ready(
    *,
    away: bool = True,
    wait_seconds: float = 5,
    most_waiting: int = 64,
    poll_seconds: float = 0.01,
    probe: FakeLane | None = None,
    **probed: Any,
) -> Ready:
    engine, _ = new_engine()
    if away:
        engine.saw_unreachable()
    looks, waits = FakeLooks(engine), list[ReadyWait]()
    bounds = WaitBounds(wait_seconds, most_waiting, poll_seconds)
    made = None if probe is None else new_probe(probe, engine, **probed).probe
    return Ready(EngineReadiness(engine, looks, bounds, waits.append, made), engine, looks, waits)


def _run(ready: Ready) -> "asyncio.Task[None]":
    return asyncio.create_task(ready.readiness.run())


async def _end(*tasks: "asyncio.Task[None]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_engine_that_answers_keeps_nobody() -> None:
    ready = _ready(away=False)

    assert ready.readiness.is_open
    assert ready.readiness.is_ready
    assert ready.readiness.waiting == 0


async def test_requests_wait_for_an_engine_that_is_away_and_go_in_order() -> None:
    ready = _ready()
    ready.looks.sights = [ready.engine.saw_loading, lambda: ready.engine.saw_page(None)]
    waiting = ready.waiting(*range(20))
    await asyncio.sleep(0)
    before = ready.readiness.is_open, ready.readiness.waiting

    running = _run(ready)
    await asyncio.gather(*waiting)

    assert before == (False, 20)
    assert ready.order == list(range(20))
    assert ready.waits == [SERVED] * 20
    assert (ready.readiness.is_open, ready.readiness.waiting) == (True, 0)
    await _end(running)


async def test_request_that_comes_when_the_engine_does_goes_behind_those_who_wait() -> None:
    ready = _ready()
    waiting = ready.waiting("first", "second")
    await asyncio.sleep(0)

    ready.engine.saw_page(None)
    is_open = ready.readiness.is_open
    waiting += ready.waiting("late")
    await asyncio.gather(*waiting)

    assert not is_open
    assert ready.order == ["first", "second", "late"]


async def test_request_beyond_the_bound_is_refused_at_once_and_told_when_to_come_again() -> None:
    ready = _ready(most_waiting=1)
    waiting = ready.waiting("first")
    await asyncio.sleep(0)

    with pytest.raises(NotReady) as refused:
        await ready.readiness.wait()

    assert refused.value.code == "engine_unreachable"
    assert refused.value.retry_after_seconds == 5
    assert "1 requests wait already" in refused.value.message
    assert ready.waits == [REFUSED]
    await _end(*waiting)


async def test_wait_ends_after_its_time_and_frees_its_place() -> None:
    ready = _ready(wait_seconds=0.01)
    ready.engine.saw_loading()

    with pytest.raises(NotReady) as refused:
        await ready.readiness.wait()

    assert refused.value.code == "engine_loading"
    assert refused.value.message == "The engine is loading its model. Waited 0.01 s."
    assert ready.readiness.waiting == 0
    assert ready.waits == [REFUSED]


async def test_engine_that_sleeps_is_said_to() -> None:
    ready = _ready(away=False, wait_seconds=0)
    ready.engine.saw_page(Counters(100.0, asleep=True))

    with pytest.raises(NotReady, match="asleep"):
        await ready.readiness.wait()


async def test_client_that_leaves_frees_its_place() -> None:
    ready = _ready(most_waiting=1)
    (first,) = ready.waiting("first")
    await asyncio.sleep(0)

    await _end(first)
    (second,) = ready.waiting("second")
    await asyncio.sleep(0)

    assert ready.readiness.waiting == 1
    assert ready.waits == [GONE]
    await _end(second)


async def test_without_a_wait_a_request_is_refused_at_once() -> None:
    ready = _ready(wait_seconds=0)

    with pytest.raises(NotReady) as refused:
        await ready.readiness.wait()

    assert refused.value.code == "engine_unreachable"


async def test_engine_is_looked_at_more_often_only_while_somebody_waits() -> None:
    ready = _ready(poll_seconds=3600)
    running = _run(ready)
    await asyncio.sleep(0.01)
    idle = ready.looks.count
    (waiting,) = ready.waiting("first")

    await eventually(lambda: ready.looks.count == 1)
    ready.engine.saw_page(None)
    await eventually(waiting.done)
    looked = ready.looks.count
    await asyncio.sleep(0.01)

    assert idle == 0
    assert ready.looks.count == looked
    await _end(running)


async def test_requests_wait_while_the_engine_is_probed() -> None:
    hanging = FakeReply(hangs=True)
    ready = _ready(away=False, probe=probe_script(hanging), wait_seconds=0.05)
    running = _run(ready)

    with pytest.raises(NotReady) as refused:
        await ready.readiness.wait()

    assert refused.value.code == "engine_warming"
    assert refused.value.retry_after_seconds == 2
    await _end(running)


async def test_requests_go_when_the_probe_has_passed() -> None:
    ready = _ready(away=False, probe=probe_script(INVALID, VALID))
    waiting = ready.waiting(*range(3))
    running = _run(ready)

    await asyncio.gather(*waiting)

    assert ready.order == [0, 1, 2]
    assert ready.readiness.is_open
    await _end(running)


async def test_requests_go_when_the_probe_fails_open() -> None:
    ready = _ready(away=False, probe=probe_script(INVALID), attempts=1)
    waiting = ready.waiting("first")
    running = _run(ready)

    await asyncio.gather(*waiting)

    assert ready.waits == [SERVED]
    await _end(running)


async def test_probe_that_fails_closed_refuses_who_waits_and_who_comes() -> None:
    ready = _ready(
        away=False,
        probe=probe_script(INVALID),
        attempts=1,
        on_fail=OnFail.CLOSED,
        again_seconds=6.5,
    )
    (waiting,) = ready.waiting("first")
    running = _run(ready)

    with pytest.raises(NotReady) as waited:
        await waiting
    with pytest.raises(NotReady) as refused:
        await ready.readiness.wait()

    assert waited.value.code == refused.value.code == "probe_failed"
    assert refused.value.retry_after_seconds == 7
    assert not ready.readiness.is_ready
    await _end(running)


async def test_refused_call_is_repeated_once_the_engine_answers() -> None:
    ready = _ready()
    ready.looks.sights = [lambda: ready.engine.saw_page(None)]
    running = _run(ready)

    may_go = await ready.readiness.wait_again(1, 5)

    assert may_go
    assert ready.waits == [SERVED]
    await _end(running)


async def test_call_that_is_not_accepted_by_an_engine_that_answers_is_repeated_after_a_pause() -> (
    None
):
    ready = _ready(away=False)

    assert await ready.readiness.wait_again(1, 5)


@pytest.mark.parametrize(("calls", "left"), [(1, 0.0), (31, 5.0)], ids=["no time", "too often"])
async def test_call_is_not_repeated_for_ever(calls: int, left: float) -> None:
    ready = _ready(away=False)

    assert not await ready.readiness.wait_again(calls, left)
    assert ready.waits == [REFUSED]


async def test_time_of_a_repeated_call_may_run_out() -> None:
    ready = _ready()

    assert not await ready.readiness.wait_again(1, 0.02)
    assert ready.readiness.waiting == 0
    assert ready.waits == [REFUSED]


async def test_end_of_the_program_ends_looks_and_probe() -> None:
    hanging = FakeReply(hangs=True)
    ready = _ready(away=False, probe=probe_script(hanging))
    running = _run(ready)
    await eventually(lambda: bool(hanging.opened))

    await _end(running)
    looked = ready.looks.count
    await asyncio.sleep(0.03)

    assert hanging.closed == 1
    assert ready.looks.count == looked
