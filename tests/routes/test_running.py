import asyncio

import pytest

from proxy.routes.asgi import AsgiClient, Message
from proxy.routes.running import Ended, RunningVisits


async def _never() -> Message:
    await asyncio.get_running_loop().create_future()
    raise AssertionError


async def _gone() -> Message:
    return {"type": "http.disconnect"}


async def _sent(message: Message) -> None:
    del message


def _client() -> AsgiClient:
    return AsgiClient(_sent, "r-1")


async def test_client_that_leaves_with_its_whole_reply_ends_nothing() -> None:
    client = _client()
    await client.reply(200, [], b"")

    with RunningVisits().one() as one:
        one.watch(_gone, client)
        for _ in range(5):
            await asyncio.sleep(0)

    assert one.ended is None


async def test_client_that_does_not_read_ends_the_block() -> None:
    async def stuck(message: Message) -> None:
        del message
        await asyncio.get_running_loop().create_future()

    client = AsgiClient(stuck, "r-1")
    with RunningVisits().one() as one:
        one.watch_writes(client, 0.02)
        with pytest.raises(asyncio.CancelledError):
            async with asyncio.timeout(5):
                await client.send(b"x")
        one.take_back()

    assert one.ended is Ended.CLIENT_GONE


async def test_client_that_leaves_ends_the_block_and_the_task_goes_on() -> None:
    running = RunningVisits()

    with running.one() as one:
        one.watch(_gone, _client())
        with pytest.raises(asyncio.CancelledError):
            await asyncio.get_running_loop().create_future()
        one.take_back()

    task = asyncio.current_task()
    assert task
    assert task.cancelling() == 0
    assert one.ended is Ended.CLIENT_GONE
    assert len(running) == 0


async def test_stop_ends_every_block_once() -> None:
    running = RunningVisits()
    endings: list[Ended | None] = []

    async def exchange() -> None:
        with running.one() as one:
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                one.take_back()
        endings.append(one.ended)

    tasks = [asyncio.create_task(exchange()) for _ in range(3)]
    await asyncio.sleep(0)
    running.stop_all()
    running.stop_all()
    await asyncio.gather(*tasks)

    assert endings == [Ended.MUST_STOP] * 3


async def test_block_that_is_over_is_not_ended() -> None:
    running = RunningVisits()

    with running.one() as one:
        pass
    one.end(Ended.MUST_STOP)
    await asyncio.sleep(0)

    assert one.ended is None


async def test_idle_returns_when_the_last_one_is_over() -> None:
    running = RunningVisits()
    await running.idle()

    with running.one(), running.one():
        idle = asyncio.create_task(running.idle())
        await asyncio.sleep(0)
        assert not idle.done()
    await idle


def test_exchange_outside_of_a_task_is_refused() -> None:
    async def make() -> RunningVisits:
        return RunningVisits()

    running = asyncio.run(make())
    loop = asyncio.new_event_loop()
    refused: list[Exception] = []

    def enter() -> None:
        try:
            running.one().__enter__()
        except RuntimeError as error:
            refused.append(error)
        loop.stop()

    loop.call_soon(enter)
    loop.run_forever()
    loop.close()

    assert "in a task" in str(refused[0])
