"""Harmless sentences about locks and sluices, without a number, a name or a date."""

import random
from typing import Final

SENTENCES: Final = (
    "A sluice gate lets water through in a measured stream.",
    "The keeper opens the upper gate when the chamber is full.",
    "Boats wait in the basin until the levels are even.",
    "A good seal matters more than a heavy door.",
    "Silt settles slowly where the current is weak.",
    "The old timber was replaced by plain steel.",
    "Water that flows too fast wears the sill away.",
    "In dry summers the gates stay closed for longer.",
    "A small leak tells the keeper where to look first.",
    "The valve turns easily once the pressure has dropped.",
    "Every chamber has two gates so that one of them always holds.",
    "The channel above the weir is calm and deep.",
    "Rain upstream arrives here with some delay.",
    "A simple float shows the level to everybody who passes.",
)
REASONING: Final = (
    "The request is clear. ",
    "I should answer in the form that was asked for. ",
    "Nothing else is needed. ",
)


def prose(words: int, chance: random.Random) -> str:
    """Whole sentences of about so many words, one at least."""
    chosen: list[str] = []
    count = 0
    while count < words:
        pool = [sentence for sentence in SENTENCES if sentence not in chosen[-4:]]
        chosen.append(chance.choice(pool))
        count += len(chosen[-1].split())
    return " ".join(chosen) or SENTENCES[0]


def words_of_length(least: int, most: int, chance: random.Random) -> str:
    """A text of a length between the two, in characters, without white space at its ends."""
    aim = min(most, max(least, min((least + most) // 2, 400)))
    text = prose(1, chance)
    while len(text) < aim:
        text += " " + prose(1, chance)
    return clipped(text, least, aim)


def clipped(text: str, least: int, most: int) -> str:
    """The text cut at a word where the limits allow, else where they end."""
    if len(text) <= most:
        return text
    cut = text[:most].rpartition(" ")[0].rstrip(" ,")
    if len(cut) >= least and cut:
        return cut
    return text[:most].rstrip().ljust(least, ".") if most else ""
