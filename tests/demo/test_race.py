import asyncio

import pytest

from proxy.demo.race import first_of


async def test_first_end_cancels_the_others_and_waits_for_them() -> None:
    left = asyncio.Event()

    async def long() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            left.set()

    await first_of(long(), asyncio.sleep(0))

    assert left.is_set()


async def test_error_of_the_first_is_raised() -> None:
    async def fails() -> None:
        raise ValueError("first")

    with pytest.raises(ValueError, match="first"):
        await first_of(asyncio.Event().wait(), fails())
