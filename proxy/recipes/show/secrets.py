"""Values of a recipe that are not for other people's eyes."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Self

from proxy.recipes.recipe import Recipe

MASK: Final = "***"
_RECOGNISABLE: Final = 8  # shorter ones would be found in half of all values
_BY_FORM: Final = (
    re.compile(r"(://[^/@\s:]{0,200}:)[^/@\s]{1,500}(?=@)"),
    re.compile(r"(\bBearer +)(?=\S*\d)[\w.~+/=-]{1,500}"),
)
_NAME: Final = re.compile(r"(^|_)(API_?KEYS?|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS)$")


def is_secret(name: str) -> bool:
    """Whether a flag, variable or key is one whose value is masked, such as `--api-key`."""
    return _NAME.search(name.lstrip("-").replace("-", "_").upper()) is not None


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _inside(value: Any, name: str = "") -> Iterator[str]:
    """Secrets in a document: values of secret names, and what follows such a name and a `=`."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _inside(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from _inside(each, name)
    else:
        before, _, after = str(value).rpartition("=")
        yield from [str(value)] * is_secret(name)
        yield from [after] * is_secret(before)


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
        assigned = [word.partition("=")[::2] for word in recipe.command.before if "=" in word]
        named = (*recipe.environment.items(), *recipe.defaults.items(), *assigned)
        texts = (value for name, value in named if is_secret(name))
        beside = (text for value in recipe.beside.values() for text in _inside(_read(value)))
        return cls(frozenset(filter(None, (*flags, *texts, *beside))))

    def mask(self, text: str) -> str:
        """The text with its secret replaced: the whole text, what follows a `=`, or a long part.

        Passwords of addresses and bearer tokens are recognised by their form alone.
        """
        for value in sorted(self.values, key=len, reverse=True):
            if text == value or text.endswith(f"={value}"):
                return text.removesuffix(value) + MASK
            if len(value) >= _RECOGNISABLE:
                text = text.replace(value, MASK)
            else:
                text = text.replace(f'"{value}"', f'"{MASK}"').replace(f'={value}"', f'={MASK}"')
        for form in _BY_FORM:
            text = form.sub(rf"\1{MASK}", text)
        return text
