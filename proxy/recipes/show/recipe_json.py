"""A recipe as one JSON document, its secrets masked."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from proxy.recipes.recipe import Recipe
from proxy.recipes.show.secrets import Secrets


def recipe_json(recipe: Recipe) -> str:
    """Every field of `Recipe`, and `arguments`: the words of the command as a plain list.

    ASCII only, so that no value can steer a terminal.
    """
    document = msgspec.to_builtins(recipe, enc_hook=_plain)
    document["arguments"] = list(recipe.command.arguments)
    return json.dumps(_masked(document, Secrets.of(recipe)), indent=2)


def _plain(value: Path | Mapping[str, Any]) -> Any:
    """The two kinds of value in a recipe that msgspec has no form for."""
    return str(value) if isinstance(value, Path) else dict(value)


def _masked(value: Any, secrets: Secrets) -> Any:
    if isinstance(value, str):
        return secrets.mask(value)
    if isinstance(value, list | tuple):
        return [_masked(each, secrets) for each in value]
    if isinstance(value, dict):
        return {key: _masked(each, secrets) for key, each in value.items()}
    return value
