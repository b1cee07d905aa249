"""What waits for the ledger: bounded, and what finds no room is counted."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Backlog(Generic[T]):
    """A queue that never blocks. Any thread may add, one takes.

    `on_drop` hears how many were lost. What was taken counts as waiting until it is `done`.
    """

    def __init__(self, limit: int, on_drop: Callable[[int], None]) -> None:
        self._limit = limit
        self._on_drop = on_drop
        self._waiting: deque[T] = deque()
        self._taken: list[T] = []
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._waiting) + len(self._taken)

    def add(self, record: T) -> None:
        if len(self._waiting) >= self._limit:
            self.drop(1)
        else:
            self._waiting.append(record)

    def take(self, count: int) -> Sequence[T]:
        """The oldest, `count` at most; the same again until they are `done`."""
        while self._waiting and len(self._taken) < count:
            self._taken.append(self._waiting.popleft())
        return tuple(self._taken)

    def done(self, count: int) -> None:
        """The first `count` of what was taken need not be kept any more."""
        del self._taken[:count]

    def drop(self, count: int) -> None:
        self.dropped += count
        self._on_drop(count)

    def drop_all(self) -> int:
        """Lose everything that waits, and say how much it was."""
        count = len(self)
        self._waiting.clear()
        self._taken.clear()
        if count:
            self.drop(count)
        return count
