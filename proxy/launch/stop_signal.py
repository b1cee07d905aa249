"""Whether the user wants `recipe up` to stop: the first signal asks, the second one insists."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopSignal:
    """`asked` and `hurried` may be waited for.

    SIGHUP counts, since the terminal has gone, unless it is ignored as under `nohup`.
    """

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.hurried = asyncio.Event()
        is_detached = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        self._numbers = _SIGNALS[:-1] if is_detached else _SIGNALS

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Hear signals while the block runs."""
        self.listen()
        try:
            yield
        finally:
            loop = asyncio.get_running_loop()
            for number in self._numbers:
                loop.remove_signal_handler(number)

    def listen(self) -> None:
        """Be the one who hears them, also after somebody else was."""
        loop = asyncio.get_running_loop()
        for number in self._numbers:
            loop.add_signal_handler(number, self.tell)

    def tell(self) -> None:
        (self.hurried if self.asked.is_set() else self.asked).set()
