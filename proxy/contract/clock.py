"""The clock that is handed in: monotonic seconds for durations, Unix seconds for records."""

import time
from typing import Protocol

from typing_extensions import override


class Clock(Protocol):
    def now(self) -> float:
        """Monotonic seconds."""
        ...

    def unix(self) -> float: ...


class SystemClock(Clock):
    """The machine's clocks; `now` is the clock that asyncio's event loop uses."""

    now = staticmethod(time.monotonic)

    @override
    def unix(self) -> float:
        return time.time()
