"""Recipes of a test's own, by what their command's flags are."""

import tempfile
from pathlib import Path
from typing import Final

from proxy.recipes.reading import read_recipe
from proxy.recipes.recipe import Recipe
from proxy.recipes.vllm.facts import pinned_facts

FACTS: Final = pinned_facts()
MODEL: Final = "owner/Tiny-8B-FP8"
CONTAINER: Final = "vllm/vllm-openai:v0.32.0"


def served(
    flags: str = "",
    *,
    model: str = MODEL,
    container: str | None = CONTAINER,
    keys: str = "",
    overrides: tuple[str, ...] = (),
) -> Recipe:
    """A recipe of version 1 whose command is `vllm serve MODEL FLAGS`; `keys` are further lines."""
    lines = ['recipe_version: "1"', "name: tiny", f"model: {model}", keys]
    if container:
        lines.append(f"container: {container}")
    lines.append(f"command: |\n  vllm serve {model} {flags}\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.yaml"
        path.write_text("\n".join(lines), encoding="utf-8")
        return read_recipe(path, overrides, FACTS)
