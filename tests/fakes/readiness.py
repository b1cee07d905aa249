"""A readiness that answers as a test says, and writes down what it was asked."""

from dataclasses import dataclass, field

from typing_extensions import override

from proxy.contract.job import Readiness


@dataclass
class FakeReadiness(Readiness):
    """`again`: the answers to waits after a call; beyond them no call may be repeated.

    A wait takes no time; `wait` opens it.
    """

    is_open: bool = True
    wait_seconds: float = 30.0
    again: list[bool] = field(default_factory=list)
    asked: list[tuple[int, float]] = field(default_factory=list)
    waits: int = 0

    @override
    async def wait(self) -> None:
        self.waits += 1
        self.is_open = True

    @override
    async def wait_again(self, calls: int, left_seconds: float) -> bool:
        self.asked.append((calls, left_seconds))
        return self.again.pop(0) if self.again else False
