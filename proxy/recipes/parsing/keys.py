"""Typed values out of a recipe's keys, and what is wrong with them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.errors import Problem
from proxy.recipes.recipe import Version
from proxy.yaml_places import KeyPath, Places

_VERSIONS = ", ".join(f"`{version.value}`" for version in Version)


@dataclass(frozen=True, slots=True)
class KeyReader:
    """Takes values out of a document and notes problems with their places.

    A key that is absent is None or empty, and no problem.
    """

    data: Any
    places: Places
    problems: list[Problem]

    def add(self, path: KeyPath, message: str, remedy: str) -> None:
        self.problems.append(Problem(self.places.value(path), message, remedy))

    def has(self, path: KeyPath) -> bool:
        return self._found(path) is not None

    def version(self) -> Version:
        """Missing means 2, as sparkrun has it."""
        written = self._found(("recipe_version",))
        if written is None:
            return Version.SPARKRUN
        for version in Version:
            if str(written) == str(version.value):
                return version
        self.add(
            ("recipe_version",),
            f"`recipe_version` is `{str(written)[:20]}`; known are {_VERSIONS}",
            f'write `recipe_version: "{Version.SPARKRUN.value}"`',
        )
        return Version.SPARKRUN

    def mapping(self, path: KeyPath) -> Mapping[str, Any]:
        found = self._found(path)
        if isinstance(found, dict) or (found is None and path):
            return found or {}
        name = _named(path) if path else "the file"
        self.add(path, f"{name} must be a mapping of keys and values", "write `key: value` lines")
        return {}

    def text(self, path: KeyPath) -> str | None:
        found = self._found(path)
        if found is None or (isinstance(found, str) and found.strip()):
            return found
        self.add(path, f"{_named(path)} must be text", "write it in quotes")
        return None

    def text_list(self, path: KeyPath) -> tuple[str, ...]:
        found = self._found(path)
        if found is None:
            return ()
        if isinstance(found, list) and all(isinstance(each, str) for each in found):
            return tuple(found)
        self.add(path, f"{_named(path)} must be a list of texts", "write `- text` lines")
        return ()

    def texts(self, path: KeyPath) -> Mapping[str, str]:
        """Values of a mapping as text: 0.70 is `0.7` and true is `True`, as Python writes them."""
        return {
            name: self._scalar((*path, name), value) for name, value in self.mapping(path).items()
        }

    def as_json(self, path: KeyPath) -> str:
        """Text as it is, anything else as JSON; empty where there is nothing in it."""
        found = self._found(path)
        if isinstance(found, str):
            return found
        return json.dumps(found, default=str) if found else ""

    def count(self, path: KeyPath) -> int | None:
        found = self._found(path)
        if found is None or (isinstance(found, int) and not isinstance(found, bool) and found > 0):
            return found
        message = f"{_named(path)} must be a whole number above 0"
        self.add(path, message, "write the number without quotes")
        return None

    def switch(self, path: KeyPath) -> bool:
        found = self._found(path)
        if found is None or isinstance(found, bool):
            return bool(found)
        self.add(path, f"{_named(path)} must be true or false", "write `true` or `false`")
        return False

    def _scalar(self, path: KeyPath, value: Any) -> str:
        if isinstance(value, str | int | float):
            return str(value)
        if value is None:
            self.add(path, f"{_named(path)} has no value", "write one, or remove the key")
        else:
            kind = "list" if isinstance(value, Sequence) else "mapping"
            message = f"{_named(path)} is a {kind}, which no command line can hold"
            self.add(path, message, "write it as text, for instance JSON in single quotes")
        return ""

    def _found(self, path: KeyPath) -> Any:
        found = self.data
        for step in path:
            if not isinstance(found, dict):
                return None
            found = found.get(step)
        return found


def _named(path: KeyPath) -> str:
    return f"`{'.'.join(map(str, path))}`"
