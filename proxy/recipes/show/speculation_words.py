"""What a recipe drafts with, in words."""

from typing import Final

from proxy.recipes.compare.switch_values import SPECULATION_METHOD
from proxy.recipes.compare.switches import SPECULATION_DRAFTER, SPECULATION_TOKENS, switches_of
from proxy.recipes.recipe import Recipe

_MTP: Final = "mtp"


def speculation_words(recipe: Recipe) -> str:
    """For instance `mtp, 1 draft token a step, from a head of the checkpoint`."""
    switches = switches_of(recipe)
    method = switches.get(SPECULATION_METHOD)
    tokens = switches.get(SPECULATION_TOKENS)
    drafter = switches.get(SPECULATION_DRAFTER)
    words = [method.value] if method else []
    if tokens:
        words.append(f"{tokens.value} draft token{'' if tokens.value == '1' else 's'} a step")
    if drafter:
        words.append(f"from the drafter {drafter.value}")
    elif method and method.meaning == _MTP:
        words.append("from a head of the checkpoint")
    return ", ".join(words) or "none"
