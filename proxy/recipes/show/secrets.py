"""Values of a recipe that are not for other people's eyes."""

import re
from dataclasses import dataclass
from typing import Final, Self

from proxy.recipes.recipe import Recipe

MASK: Final = "***"
_RECOGNISABLE: Final = 8  # shorter ones would be found in half of all values
_NAME: Final = re.compile(r"(^|_)(API_?KEYS?|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS)$")


def is_secret(name: str) -> bool:
    """Whether a flag, variable or key is one whose value is masked, such as `--api-key`."""
    return _NAME.search(name.lstrip("-").replace("-", "_").upper()) is not None


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secret values of one recipe, so that they are masked wherever they stand."""

    values: frozenset[str]

    @classmethod
    def of(cls, recipe: Recipe) -> Self:
        flags = (
            value
            for flag in recipe.command.written
            if is_secret(flag.name)
            for value in flag.values
        )
        named = (*recipe.environment.items(), *recipe.defaults.items())
        texts = (value for name, value in named if is_secret(name))
        return cls(frozenset(filter(None, (*flags, *texts))))

    def mask(self, text: str) -> str:
        """The text with its secret replaced: the whole text, what follows a `=`, or a long part."""
        for value in sorted(self.values, key=len, reverse=True):
            if text == value or text.endswith(f"={value}"):
                return text.removesuffix(value) + MASK
            if len(value) >= _RECOGNISABLE:
                text = text.replace(value, MASK)
        return text
