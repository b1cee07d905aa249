"""Tells one engine start from the next by process start times, and replicas from restarts.

A process that was left never comes back. So a start time that does means that several replicas
share the address; then start times tell nothing, until only one of them is seen for a while.
"""

from collections import OrderedDict
from collections.abc import Iterable
from enum import Enum, auto
from typing import Final

from proxy.telemetry.engine_start import EngineStartRecord

# Two replicas that are looked at in turn never reach it.
_STEADY_LOOKS: Final = 30
_LEFT: Final = 256


class Seen(Enum):
    """What a start time means."""

    SAME = auto()
    NEW = auto()
    ALTERNATING = auto()


class StartTimes:
    """Follows the start times of one lane. `remembered`: starts of earlier runs of the proxy."""

    def __init__(self, remembered: Iterable[EngineStartRecord] = ()) -> None:
        records = sorted(remembered, key=lambda record: record.seen_at)
        lasting = {record.started_at for record in records if record.over_at is None}
        self._left: OrderedDict[float, None] = OrderedDict()
        for record in records:
            if record.started_at is not None and record.started_at not in lasting:
                self._leave(record.started_at)
        self._present: float | None = None
        self._looks = 0
        self.alternating = False

    def see(self, started_at: float) -> Seen:
        """Take the start time of one look."""
        if started_at == self._present:
            self._looks += 1
            self.alternating = self.alternating and self._looks < _STEADY_LOOKS
            return Seen.ALTERNATING if self.alternating else Seen.SAME
        if self._present is not None:
            self._leave(self._present)
        self._present = started_at
        self._looks = 0
        self.alternating = self.alternating or started_at in self._left
        return Seen.ALTERNATING if self.alternating else Seen.NEW

    def _leave(self, started_at: float) -> None:
        self._left[started_at] = None
        self._left.move_to_end(started_at)
        if len(self._left) > _LEFT:
            self._left.popitem(last=False)
