"""How fast the ledger is written, and how patient its writer is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Bounds of the writer, in records and seconds.

    What waits is written every `batch_seconds`, in batches of at most `batch_records` (each is some
    rows). `queue_records` may wait. A lock is tried again after `lock_seconds`, everything else
    after `retry_seconds`; each time twice as long, up to the second number of the pair. Of a lock
    nothing is said before `lock_patience_seconds`.
    """

    queue_records: int = 10_000
    batch_records: int = 250
    batch_seconds: float = 0.2
    lock_seconds: tuple[float, float] = (0.1, 2.0)
    lock_patience_seconds: float = 2.0
    retry_seconds: tuple[float, float] = (1.0, 60.0)
    memory_seconds: float = 2.0
    close_seconds: float = 5.0
