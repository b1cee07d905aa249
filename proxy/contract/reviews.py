"""The seam for a review queue: who hears of a reply that a person should look at."""

from dataclasses import dataclass
from typing import Protocol

from proxy.errors import Fault


@dataclass(frozen=True, slots=True)
class Flag:
    """A reply that is delivered and should be looked at. It holds no text of request or reply.

    `attempt` counts from 1. `fault` is None where the gate itself could not judge; `place` is the
    verdict's.
    """

    request_id: str
    attempt: int
    policy: str
    gate: str
    fault: Fault | None
    place: str


class Reviews(Protocol):
    """Takes flags before their replies leave."""

    async def flag(self, flag: Flag) -> None:
        """Keep the flag; the reply leaves when this returns.

        Must not block the event loop, and must not raise: a reply is delivered in any case.
        """
        ...
