"""For which recipe the default objective of the time to the first response was measured."""

from typing import Final

from proxy.recipes.recipe import Recipe

_MODEL: Final = "Qwen/Qwen3.6-35B-A3B-FP8"
# Stated for the pinned MTP1 recipe; 0.2 s leaves room above it.
_STATED_SECONDS: Final = 0.1482


def why_default_may_not_fit(recipe: Recipe) -> str | None:
    """Why a default below a recipe's own TTFR may be missed by every reply; None: it fits."""
    speculation = recipe.engine.speculation
    tokens = speculation.tokens if speculation else None
    if recipe.model.casefold() != _MODEL.casefold():
        reason = "the recipe serves another model"
    elif tokens is not None and tokens > 1:
        reason = f"the recipe drafts {tokens} tokens a step"
    else:
        return None
    return (
        f"{reason}; the default fits {_MODEL} with one draft token, "
        f"whose stated TTFR is {_STATED_SECONDS:g} s"
    )
