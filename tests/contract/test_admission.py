import asyncio

import pytest

from proxy.contract.admission import Admission
from proxy.errors import QueueFull


async def _hold(admission: Admission, release: asyncio.Event, order: list[str], name: str) -> None:
    async with admission:
        order.append(name)
        await release.wait()


async def _settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_requests_beyond_the_bound_wait_in_order() -> None:
    admission, release, order = Admission(1, 8, 5), asyncio.Event(), list[str]()
    tasks = [asyncio.create_task(_hold(admission, release, order, name)) for name in "abc"]
    await _settled()

    waiting = admission.depth
    release.set()
    await asyncio.gather(*tasks)

    assert waiting == 2
    assert order == ["a", "b", "c"]
    assert admission.depth == 0


async def test_full_queue_refuses_at_once_and_says_when_to_come_again() -> None:
    admission, release = Admission(1, 0, 5), asyncio.Event()
    task = asyncio.create_task(_hold(admission, release, [], "a"))
    await _settled()

    with pytest.raises(QueueFull) as refused:
        async with admission:
            pass

    assert refused.value.retry_after_seconds == 1
    release.set()
    await task


async def test_wait_ends_after_its_time_and_frees_its_place() -> None:
    admission, release = Admission(1, 1, 0.01), asyncio.Event()
    task = asyncio.create_task(_hold(admission, release, [], "a"))
    await _settled()

    with pytest.raises(QueueFull):
        async with admission:
            pass

    assert admission.depth == 0
    release.set()
    await task


async def test_cancelled_wait_loses_no_room() -> None:
    admission, release, order = Admission(1, 4, 5), asyncio.Event(), list[str]()
    first = asyncio.create_task(_hold(admission, release, order, "a"))
    await _settled()
    second = asyncio.create_task(_hold(admission, release, order, "b"))
    await _settled()

    release.set()
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(first, second, return_exceptions=True)

    async with asyncio.timeout(1), admission:
        order.append("c")
    assert order[-1] == "c"


async def test_who_has_waited_elsewhere_is_never_refused_for_want_of_room_and_keeps_its_turn() -> (
    None
):
    admission, release, order = Admission(1, 1, 5), asyncio.Event(), list[str]()

    async def kept(name: str) -> None:
        async with admission.kept():
            order.append(name)

    tasks = [asyncio.create_task(_hold(admission, release, order, "a"))]
    await _settled()
    tasks += [asyncio.create_task(kept(name)) for name in "bcd"]
    await _settled()
    with pytest.raises(QueueFull):
        async with admission:
            pass
    release.set()
    await asyncio.gather(*tasks)

    assert order == ["a", "b", "c", "d"]
    async with asyncio.timeout(1), admission:
        assert admission.depth == 0


async def test_turn_that_was_cancelled_at_the_same_moment_is_passed_over() -> None:
    admission, release, order = Admission(1, 4, 5), asyncio.Event(), list[str]()
    first = asyncio.create_task(_hold(admission, release, order, "a"))
    await _settled()
    second = asyncio.create_task(_hold(admission, release, order, "b"))
    third = asyncio.create_task(_hold(admission, release, order, "c"))
    await _settled()

    second.cancel()
    release.set()
    await asyncio.gather(first, second, third, return_exceptions=True)

    assert order == ["a", "c"]
    assert admission.depth == 0
