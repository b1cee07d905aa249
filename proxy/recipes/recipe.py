"""The seam to serving recipes: what the proxy must know of the engine behind a lane.

Reads version 1 of the format, and of that only what admission and metrics need. It does not know
how YAML is read: the reader is handed in.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from proxy.errors import Place, Problem, RecipeError

VERSION: Final = "1"
_HASH_DIGITS: Final = 12


class DocumentPlaces(Protocol):
    """The place of each value by path."""

    def value(self, path: tuple[str | int, ...]) -> Place: ...


class Document(Protocol):
    """A configuration file that has been read: bytes, data, places, problems."""

    @property
    def source(self) -> bytes: ...

    @property
    def data(self) -> Any: ...

    @property
    def places(self) -> DocumentPlaces: ...

    @property
    def problems(self) -> Sequence[Problem]: ...


ReadDocument: TypeAlias = Callable[[Path], Document]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the engine was started. None: the recipe leaves it to the engine's default.

    `max_model_len` counts tokens. `hash` is the start of the SHA-256 of the file's bytes.
    """

    name: str
    model: str
    max_num_seqs: int | None
    max_model_len: int | None
    file: Path
    hash: str


def load_recipe(path: Path, read: ReadDocument) -> Recipe:
    """Read one recipe. Raises `RecipeError` with every problem in it."""
    document = read(path)
    reader = _Reader(document.places, list(document.problems))
    if document.data is None and document.problems:
        raise RecipeError(reader.problems)
    top = reader.mapping(document.data, ())
    if not top and reader.problems:
        raise RecipeError(reader.problems)
    reader.check_version(top)
    name = reader.text(top, "name") or path.stem
    model = reader.text(top, "model")
    if "model" not in top:
        reader.add(("model",), "the key `model` is missing", "add `model: owner/name`")
    defaults = reader.mapping(top.get("defaults") or {}, ("defaults",))
    max_num_seqs = reader.count(defaults, "max_num_seqs")
    max_model_len = reader.count(defaults, "max_model_len")
    if model is None or reader.problems:
        raise RecipeError(reader.problems)
    digest = hashlib.sha256(document.source).hexdigest()[:_HASH_DIGITS]
    return Recipe(name, model, max_num_seqs, max_model_len, path, digest)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Takes typed values out of a document and notes what is wrong with them."""

    places: DocumentPlaces
    problems: list[Problem]

    def add(self, path: tuple[str, ...], message: str, remedy: str) -> None:
        self.problems.append(Problem(self.places.value(path), message, remedy))

    def mapping(self, value: Any, path: tuple[str, ...]) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        name = f"`{path[-1]}`" if path else "the file"
        self.add(path, f"{name} must be a mapping of keys and values", "write `key: value` lines")
        return {}

    def check_version(self, top: dict[str, Any]) -> None:
        version = top.get("recipe_version")
        if str(version) != VERSION:
            found = "missing" if version is None else f"`{version}`"
            message = f"`recipe_version` is {found}; this version reads recipes of version 1"
            self.add(("recipe_version",), message, 'write `recipe_version: "1"`')

    def text(self, top: dict[str, Any], key: str) -> str | None:
        value = top.get(key)
        if key not in top or (isinstance(value, str) and value.strip()):
            return value
        self.add((key,), f"`{key}` must be text", "write it in quotes")
        return None

    def count(self, defaults: dict[str, Any], key: str) -> int | None:
        value = defaults.get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        message = f"`defaults.{key}` must be a whole number above 0"
        self.add(("defaults", key), message, "write the number without quotes")
        return None
