"""Upper bounds of histogram buckets, in seconds but for tokens per second.

Dense where the recipes' values lie: the usual sets of 1, 2.5, 5 and of powers of two are blind
there, and report 175 ms for a median of 130 ms.
"""

from typing import Final

TTFR_SECONDS: Final = (
    *(0.025, 0.05, 0.075, 0.09, 0.1, 0.11, 0.115, 0.12, 0.125, 0.13, 0.135, 0.14, 0.145, 0.15),
    *(0.16, 0.18, 0.2, 0.25, 0.35, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0),
)
# One token interval after TTFR, of 8 to 20 ms: steps of 10 ms tell as much.
TTFT_SECONDS: Final = (
    *(0.05, 0.1, 0.12, 0.13, 0.14, 0.15, 0.16, 0.18, 0.2, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0),
)
TOKENS_PER_SECOND: Final = (
    *(5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0),
    *(100.0, 110.0, 120.0, 130.0, 150.0, 200.0),
)
OWN_SECONDS: Final = (0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
DURATION_SECONDS: Final = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0)
WAIT_SECONDS: Final = (0.01, 0.1, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0)


def with_edge(edges: tuple[float, ...], edge: float) -> tuple[float, ...]:
    """The same edges and this one, in order."""
    return tuple(sorted({*edges, edge}))
