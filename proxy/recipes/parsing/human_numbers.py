"""Whole numbers as vLLM lets people write them: `8k` is 8,000 and `8K` is 8,192."""

import re
from fractions import Fraction
from typing import Final

_NUMBER: Final = re.compile(r"(-?\d{1,18})(\.\d{1,18})?([kmgtKMGT]?)", re.ASCII)
_FACTORS: Final[dict[str, int]] = {
    "": 1,
    **{suffix: 1000**power for power, suffix in enumerate("kmgt", start=1)},
    **{suffix: 1024**power for power, suffix in enumerate("KMGT", start=1)},
}


def read_number(text: str) -> int | None:
    """The number that a text means; None where it means none.

    Decimals need a lower-case suffix (`25.6k`), as in vLLM (`human_readable_int` of
    vllm/engine/arg_utils.py).
    """
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    whole, decimals, suffix = found.groups()
    if decimals is None:
        return int(whole) * _FACTORS[suffix]
    if not suffix.islower():
        return None
    return int(Fraction(whole + decimals) * _FACTORS[suffix])
