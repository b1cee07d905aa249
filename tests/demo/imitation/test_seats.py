import asyncio

import pytest

from proxy.demo.imitation.seats import Seats


async def test_request_beyond_the_seats_waits_for_one() -> None:
    seats, leave = Seats(1), asyncio.Event()

    async def sit() -> None:
        async with seats.taken(10):
            await leave.wait()

    async with asyncio.TaskGroup() as group:
        for _ in range(2):
            group.create_task(sit())
        await asyncio.sleep(0)
        seen = (seats.running, seats.waiting, seats.tokens)
        leave.set()

    assert seen == (1, 1, 10)
    assert (seats.running, seats.waiting, seats.tokens) == (0, 0, 0)


async def test_tokens_of_a_sequence_go_with_it() -> None:
    seats = Seats(2)

    async with seats.taken(10) as seat:
        seat.add(5)
        assert seats.tokens == 15

    assert seats.tokens == 0


async def test_request_that_gives_up_waiting_leaves_no_trace() -> None:
    seats = Seats(1)
    async with seats.taken(1):
        waiting = asyncio.create_task(seats.taken(1).__aenter__())
        await asyncio.sleep(0)

        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

        assert seats.waiting == 0
    assert seats.running == 0
