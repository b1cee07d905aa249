"""A review queue that writes down what it is told."""

from dataclasses import dataclass, field

from typing_extensions import override

from proxy.contract.reviews import Flag, Reviews
from tests.fakes.job import FakeClient


@dataclass
class FakeReviews(Reviews):
    """Writes down flags, and what the client had got when each came."""

    client: FakeClient
    flags: list[Flag] = field(default_factory=list)
    parked: dict[str, Flag] = field(default_factory=dict)
    started_before: list[bool] = field(default_factory=list)

    @override
    async def flag(self, flag: Flag) -> None:
        self.flags.append(flag)
        self.started_before.append(self.client.started)

    @override
    async def park(self, review_id: str, flag: Flag) -> None:
        self.parked[review_id] = flag
        self.started_before.append(self.client.started)
