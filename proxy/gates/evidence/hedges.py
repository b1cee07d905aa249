"""Words that say a number is not meant exactly, and on which side of it the truth lies.

Limits ("at most", "mindestens") are no hedges: they are meant exactly.
"""

import re
from enum import StrEnum
from typing import Final


class Hedge(StrEnum):
    """`below`: the true value is less ("fast", "nearly"); `above`: it is more ("über", "over")."""

    NONE = "none"
    ABOUT = "about"
    BELOW = "below"
    ABOVE = "above"


_WORDS: Final = {
    Hedge.ABOUT: "rund etwa circa zirka ca ca. ungefähr schätzungsweise gegen annähernd so um "
    "about approximately approx approx. around roughly some c. ~ ≈ ± estimated",
    Hedge.BELOW: "fast beinahe nahezu knapp unter weniger almost nearly under below less fewer "
    "just close <",
    Hedge.ABOVE: "über mehr gut gute gutes guter guten over above more exceeding beyond upwards >",
}
_HEDGES: Final = {word: hedge for hedge, words in _WORDS.items() for word in words.split()}
# What may stand between a hedge and its number: "about a", "mehr als".
_FILLER_WORDS: Final = (
    "als than zu at of a an the der die das den ein eine einem einen einer by to short jeder jede"
)
_FILLERS: Final = frozenset(_FILLER_WORDS.split())
_TOKEN: Final = re.compile(r"[^\W\d_]+\.?|\S")
_AFTER: Final = re.compile(r"\s?(?:or so|\+|plus\b|oder mehr|or more|oder so)")
_BACK: Final = 40


def hedge_at(text: str, start: int, end: int) -> Hedge:
    """The hedge before or behind a number."""
    for token in reversed(_TOKEN.findall(text, max(0, start - _BACK), start)):
        word = token.lower()
        if word in _HEDGES:
            return _HEDGES[word]
        if word not in _FILLERS:
            break
    return Hedge.ABOUT if _AFTER.match(text, end) else Hedge.NONE
