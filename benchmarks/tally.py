"""What one load counts, and the figures that come of it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Figures:
    """What one load measured; None where nothing was, times in milliseconds.

    `replies` are all good ones, `completed` those that ended within the measured time. `way` is the
    time to the first token less the upstream's own: there and back. `lag` is the time from the
    upstream's sending of an event to its arrival at the client. `way` is None until there are as
    many samples as connections: fewer are those of the last starters only.
    """

    completed: int
    errors: int
    per_second: float
    replies: int = 0
    p50_ms: float | None = None
    p99_ms: float | None = None
    way_samples: int = 0
    way_p50_ms: float | None = None
    way_p99_ms: float | None = None
    lag_p50_ms: float | None = None
    lag_p99_ms: float | None = None
    lag_max_ms: float | None = None


NOTHING = Figures(completed=0, errors=1, per_second=0.0)


@dataclass(slots=True)
class Tally:
    """Samples in nanoseconds. The measured time lies between `opens_at` and `closes_at`, which are
    CLOCK_MONOTONIC; `unsent` requests may still be sent, None: any number.
    """

    opens_at: int
    connections: int
    unsent: int | None = None
    closes_at: int | None = None
    errors: int = 0
    replies: list[tuple[int, int]] = field(default_factory=list)
    ways: list[int] = field(default_factory=list)
    lags: list[int] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether no further request may be sent."""
        return self.closes_at is not None or self.unsent == 0

    def close(self) -> None:
        self.closes_at = time.monotonic_ns()

    def counts(self, now: int) -> bool:
        return now >= self.opens_at and self.closes_at is None

    def take(self) -> None:
        """One request is sent."""
        if self.unsent is not None:
            self.unsent -= 1

    def figures(self) -> Figures:
        opens, closes = self.opens_at, self.closes_at or time.monotonic_ns()
        durations = [ended - sent for sent, ended in self.replies if opens <= ended < closes]
        ways = self.ways if len(self.ways) >= self.connections else []
        return Figures(
            completed=len(durations),
            errors=self.errors,
            per_second=sum(_share(reply, opens, closes) for reply in self.replies)
            / ((closes - opens) / 1e9),
            replies=len(self.replies),
            p50_ms=quantile_ms(durations, 0.5),
            p99_ms=quantile_ms(durations, 0.99),
            way_samples=len(self.ways),
            way_p50_ms=quantile_ms(ways, 0.5),
            way_p99_ms=quantile_ms(ways, 0.99),
            lag_p50_ms=quantile_ms(self.lags, 0.5),
            lag_p99_ms=quantile_ms(self.lags, 0.99),
            lag_max_ms=quantile_ms(self.lags, 1.0),
        )


def _share(reply: tuple[int, int], opens: int, closes: int) -> float:
    """The part of a reply's time that was measured.

    Slow streams come in waves; whole counts of those that end in time would jump with the waves.
    """
    sent, ended = reply
    within = min(ended, closes) - max(sent, opens)
    return max(0.0, within / (ended - sent))


def quantile_ms(samples: Sequence[int], share: float) -> float | None:
    """The nearest-rank quantile of nanosecond samples, in milliseconds."""
    if not samples:
        return None
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] / 1e6
