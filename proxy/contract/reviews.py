"""The seam for a review queue: who hears of a reply that a person should look at."""

from dataclasses import dataclass
from typing import Protocol

from proxy.errors import Fault
from proxy.wire.reply import Choice


@dataclass(frozen=True, slots=True)
class Texts:
    """What a reviewer reads: the client's request, the reply's choices, and why it failed.

    They are private, and go no further than the queue.
    """

    request: bytes
    choices: tuple[Choice, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Flag:
    """A reply that should be looked at.

    `attempt` counts from 1. `fault` is None where the gate itself could not judge; `place` is the
    verdict's. `texts` are there only where the policy says `review.store: bodies`.
    """

    request_id: str
    attempt: int
    policy: str
    gate: str
    fault: Fault | None
    place: str
    texts: Texts | None = None


class Reviews(Protocol):
    """Takes flags before their replies leave, or the errors in their stead.

    Must not block the event loop, and must not raise: the client is answered in any case.
    """

    async def flag(self, flag: Flag) -> None:
        """Keep the flag; the reply leaves when this returns."""
        ...

    async def park(self, review_id: str, flag: Flag) -> None:
        """Keep the reply that the client does not get; it is told the id when this returns."""
        ...
