"""Scrapes of the metrics page: rendered off the event loop, and never more often than is of use."""

import asyncio
from collections.abc import Callable
from typing import Final

from proxy.telemetry.exposition import Form

_PAUSE_SECONDS: Final = 0.1


class Scrapes:
    """Who asks while a page is due or being made shares it; the next one is due 0.1 s later.

    So a page tells all that had ended when it was asked for, less the few milliseconds that making
    it takes, and readers in a loop cost no more than ten pages a second and form.
    """

    def __init__(self, render: Callable[[Form], bytes], catch_up: Callable[[], None]) -> None:
        """`catch_up` brings the values up to date, on the loop; `render` runs in a thread."""
        self._render = render
        self._catch_up = catch_up
        self._due: dict[Form, asyncio.Task[bytes]] = {}
        self._earliest: dict[Form, float] = {}

    async def page(self, form: Form) -> bytes:
        """The page in this form; raises what rendering raises."""
        task = self._due.get(form)
        if task is None:
            task = asyncio.create_task(self._make(form))
            self._due[form] = task
            task.add_done_callback(lambda _: self._due.pop(form))
        # Who leaves meanwhile must not take it from the others.
        return await asyncio.shield(task)

    async def _make(self, form: Form) -> bytes:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, self._earliest.get(form, 0.0) - loop.time()))
        self._catch_up()
        try:
            return await asyncio.to_thread(self._render, form)
        finally:
            self._earliest[form] = loop.time() + _PAUSE_SECONDS
