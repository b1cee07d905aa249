"""How sure a rate is that was seen few times."""

import math
from typing import Final

# The quantile of the normal distribution that leaves 2.5 % on either side.
_Z: Final = 1.959963984540054


def wilson_interval(hits: int, trials: int) -> tuple[float, float] | None:
    """The 95 % score interval of a proportion; None without trials.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal
    of the American Statistical Association 22 (1927), 209-212. Unlike the textbook interval it
    holds for few trials and for rates of 0 and 1.
    """
    if trials == 0:
        return None
    rate = hits / trials
    square = _Z * _Z / trials
    centre = (rate + square / 2) / (1 + square)
    margin = _Z / (1 + square) * math.sqrt(rate * (1 - rate) / trials + square / (4 * trials))
    low = 0.0 if hits == 0 else centre - margin
    high = 1.0 if hits == trials else centre + margin
    return low, high
