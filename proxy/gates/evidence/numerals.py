"""Every value that a written numeral may have: 1.234 is a thousand here and a fraction there."""

import re
from typing import Final

MOST_DIGITS: Final = 15

# A point or comma followed by three digits may group thousands; a blank or apostrophe always does.
# The first digit stands alone, so that a search skips to digits before it looks at anything else.
NUMERAL: Final = (
    r"\d(?<![\w@]\d)(?<!\d[.,']\d)(?:"
    r"\d{0,2}(?P<group>[.,' ])\d{3}(?:(?P=group)\d{3}){0,4}(?:[.,]\d{1,12})?(?!\d)"
    r"|\d?(?:,\d{2}){1,4},\d{3}(?!\d)"
    r"|\d{0,14}[.,]\d{1,15}(?!\d)"
    r"|\d{0,14}(?!\d))"
)
_GROUPED: Final = re.compile(r"(?!0)\d{1,3}(?:([.,])\d{3})+")


def readings(figures: str) -> frozenset[float]:
    """All plausible values of a numeral as `NUMERAL` finds it.

    A comma or point with one, two or more than three digits behind it is a decimal one.
    """
    bare = figures.replace("'", "").replace(" ", "")
    points, commas = bare.count("."), bare.count(",")
    if not points and not commas:
        return frozenset({float(bare)})
    if points and commas:
        decimal = "." if bare.rindex(".") > bare.rindex(",") else ","
        other = "," if decimal == "." else "."
        return frozenset({float(bare.replace(other, "").replace(decimal, "."))})
    separator = "." if points else ","
    whole = float(bare.replace(separator, ""))
    if points + commas > 1:
        return frozenset({whole})
    fraction = float(bare.replace(separator, "."))
    is_grouped = bare == figures and _GROUPED.fullmatch(bare) is not None
    return frozenset({whole, fraction}) if is_grouped else frozenset({fraction})


def step_of(figures: str, value: float) -> float:
    """The worth of the last significant digit: 100 for 1300, 0.1 for 3.5.

    Zeros at the end of a whole number do not count: 2000 may be rounded to the thousand.
    """
    bare = figures.replace("'", "").replace(" ", "")
    if value != int(value):
        fraction = re.split(r"[.,]", bare)[-1]
        return float(10.0 ** -len(fraction))
    digits = str(int(abs(value)))
    zeros = len(digits) - len(digits.rstrip("0"))
    return float(10.0**zeros) if value else 1.0
