"""Tables beside the recipes: YAML read into exact, frozen models, problems with their places."""

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from proxy.errors import Problem, RecipeError
from proxy.yaml_places import Places, YamlDocument, read_yaml

T = TypeVar("T", bound="Row")


class Row(BaseModel):
    """A part of a table: frozen, exact in types, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def read_table(path: Path, model: type[T]) -> tuple[T, Places]:
    """Read one table, and the places of its entries for further checks.

    Raises `RecipeError` with every problem in it.
    """
    document = read_yaml(path)
    if document.problems:
        raise RecipeError(document.problems)
    return _validated(document, model), document.places


def _validated(document: YamlDocument, model: type[T]) -> T:
    # Words become members of closed sets, and lists tuples, only where pydantic reads JSON.
    text = json.dumps(document.data)
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        found = [_problem_of(details, document.places) for details in error.errors()]
        raise RecipeError(found) from error


def _problem_of(details: ErrorDetails, places: Places) -> Problem:
    path = details["loc"]
    name = ".".join(str(step) for step in path) or "the file"
    if details["type"] == "extra_forbidden":
        return Problem(places.key(path), f"unknown key `{name}`", "remove it")
    if details["type"] == "missing":
        return Problem(places.value(path), f"the key `{name}` is missing", "add it")
    message = details["msg"].removeprefix("Value error, ")
    return Problem(places.value(path), f"`{name}`: {message}", "change the value")
