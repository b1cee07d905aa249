"""Validating what is right beside what is wrong, so that no mistake hides another."""

import itertools
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from proxy.contract.model_problems import Origin, problems_of
from proxy.errors import Problem
from proxy.yaml_places import KeyPath, Places

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Sound(Generic[M]):
    """A model made of the sound parts of some data, the paths left out, and why they were."""

    value: M
    wrong: frozenset[KeyPath]
    problems: tuple[Problem, ...]


def sound_parts(model: type[M], data: Any, places: Places) -> Sound[M]:
    """Validate data without its wrong parts. The model must have defaults for all its keys."""
    problems: tuple[Problem, ...] = ()
    wrong: frozenset[KeyPath] = frozenset()
    while True:
        try:
            return Sound(model.model_validate(data), wrong, problems)
        except ValidationError as error:
            problems = problems or tuple(problems_of(error, model, Origin(places)))
            found = {_down_to_a_list(details["loc"]) for details in error.errors()}
        wrong |= found
        rest = _without(data, found, ())
        data = {} if () in found or rest == data else rest


def _down_to_a_list(path: KeyPath) -> KeyPath:
    """A list with a wrong item is wrong as a whole."""
    return tuple(itertools.takewhile(lambda step: isinstance(step, str) and step != "[key]", path))


def _without(data: Any, paths: Collection[KeyPath], here: KeyPath) -> Any:
    if not isinstance(data, dict):
        return data
    return {
        name: _without(value, paths, (*here, name))
        for name, value in data.items()
        if (*here, name) not in paths
    }
