"""An event loop in which waiting takes no time: for what only waits for timers."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from typing_extensions import override

T = TypeVar("T")


class _Impatient(selectors.DefaultSelector):
    """Never waits; what it would have waited for nothing is added up."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped = 0.0

    @override
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is not None and timeout > 0:
            self.skipped += timeout
        return ready


class _SkippingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._impatient = _Impatient()
        super().__init__(self._impatient)

    @override
    def time(self) -> float:
        return super().time() + self._impatient.skipped


def run_without_waiting(work: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run`, where a timer is due as soon as nothing else is to be done."""
    with asyncio.Runner(loop_factory=_SkippingLoop) as runner:
        return runner.run(work)
