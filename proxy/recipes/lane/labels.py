"""A recipe in short words, as metrics, the log and records name it."""

from typing import Final

from proxy.recipes.recipe import Recipe

_TEXT_CHARACTERS: Final = 200


def short(text: str) -> str:
    """Printable, and cut at 200 characters: files and servers may hold anything."""
    return "".join(each for each in text if each.isprintable())[:_TEXT_CHARACTERS]


def recipe_label(recipe: Recipe) -> str:
    """Its name and the hash of its file."""
    return f"{short(recipe.name)}@{recipe.hash}"


def recipe_labels(recipe: Recipe, lane: str) -> dict[str, str]:
    """Labels of `recipe_info`; empty where the recipe leaves a switch to the engine."""
    engine = recipe.engine
    speculation = engine.speculation
    labels = {
        "lane": lane,
        "recipe": recipe.name,
        "hash": recipe.hash,
        "version": str(recipe.version.value),
        "model": recipe.model,
        "max_model_len": engine.max_model_len,
        "max_num_seqs": engine.max_num_seqs,
        "speculative_method": speculation.method if speculation else None,
        "speculative_tokens": speculation.tokens if speculation else None,
        "attention_backend": engine.attention_backend,
        "quantization": engine.quantization,
        "kv_cache_dtype": engine.kv_cache_dtype,
    }
    return {name: "" if value is None else short(str(value)) for name, value in labels.items()}
