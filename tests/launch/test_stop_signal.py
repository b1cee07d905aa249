import asyncio
import os
import signal

import pytest

from proxy.launch.stop_signal import StopSignal


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_first_signal_asks_and_the_second_insists(number: signal.Signals) -> None:
    stop = StopSignal()

    with stop.heard():
        os.kill(os.getpid(), number)
        await stop.asked.wait()
        hurried_at_first = stop.hurried.is_set()
        os.kill(os.getpid(), number)
        await stop.hurried.wait()

    assert not hurried_at_first


async def test_signal_that_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        stop = StopSignal()
        with stop.heard():
            os.kill(os.getpid(), signal.SIGHUP)
            os.kill(os.getpid(), signal.SIGTERM)
            await stop.asked.wait()

            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert not stop.hurried.is_set()
    finally:
        signal.signal(signal.SIGHUP, before)


async def test_signals_are_the_program_s_own_again_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)

    with StopSignal().heard():
        during = signal.getsignal(signal.SIGTERM)

    assert during is not before
    assert signal.getsignal(signal.SIGTERM) in (before, signal.SIG_DFL)


async def test_signals_are_heard_again_after_somebody_else_has_heard_them() -> None:
    stop, loop = StopSignal(), asyncio.get_running_loop()
    with stop.heard():
        loop.add_signal_handler(signal.SIGTERM, lambda: None)
        loop.remove_signal_handler(signal.SIGTERM)

        stop.listen()
        os.kill(os.getpid(), signal.SIGTERM)
        await stop.asked.wait()
