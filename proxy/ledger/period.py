"""Periods as the command line has them: 30m, 24h, 7d, 2w."""

import argparse
import re
from typing import Final

_PERIOD: Final = re.compile(r"([0-9]{1,6})([smhdw])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}


def read_period(text: str) -> float:
    """Seconds of a period. Raises what argparse shows with the name of the flag."""
    found = _PERIOD.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(
            f"`{text}` is no period (write a whole number and a unit: 30m, 24h, 7d or 2w)"
        )
    return float(int(found[1]) * _SECONDS[found[2]])
