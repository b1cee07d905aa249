"""The known word that an unknown one was probably meant to be."""

import difflib
from collections.abc import Iterable
from typing import Final

_NEAR: Final = 0.7
_LONGEST: Final = 100


def nearest(word: str, known: Iterable[str], cutoff: float = _NEAR) -> str | None:
    """The likeliest known word, upper and lower case alike; None if none is near.

    `cutoff` is the least likeness, from 0 to 1 (Ratcliff and Obershelp's ratio).
    """
    # What nobody would misspell is not worth the time that long words cost.
    if len(word) > _LONGEST:
        return None
    by_folded = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), by_folded, n=1, cutoff=cutoff)
    return by_folded[close[0]] if close else None


def did_you_mean(word: str, known: Iterable[str], otherwise: str, cutoff: float = _NEAR) -> str:
    """A remedy for an unknown word."""
    found = nearest(word, known, cutoff)
    return f"did you mean `{found}`?" if found else otherwise
