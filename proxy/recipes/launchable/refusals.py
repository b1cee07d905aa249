"""Why a recipe is not launched on this machine, each reason with its place.

What a shell would have made of the command's text is not asked here; the checks of the text are.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from proxy.errors import Place, Problem
from proxy.recipes.lane.labels import short
from proxy.recipes.launchable.outside_code import is_steering
from proxy.recipes.recipe import Recipe
from proxy.recipes.show.printable import printable
from proxy.yaml_places import Places

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_COMMAND: Final = ("command",)
_NODES: Final = ("min_nodes", "cluster_only")
_SHOWN_CHARACTERS: Final = 80
_SILENT_FLAGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "--headless": "a headless node answers no requests; start the head",
        "--uds": "`recipe up` and the proxy reach the engine over TCP; remove it",
        "--config": "what it names would not be seen; write its flags into the recipe",
    }
)


class Reason(StrEnum):
    """Kinds of refusals."""

    OTHER_ENGINE = "other engine"
    NO_MODEL = "no model"
    SEVERAL_MACHINES = "several machines"
    SILENT_FLAG = "flag without an address"
    LEFT_OUT = "mods and hooks"
    UNSEEN = "unseen character"
    VARIABLE_NAME = "no name of a variable"
    STEERING = "steering variable"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason against a start."""

    reason: Reason
    problem: Problem


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the user takes upon himself. `environment` names variables that are refused else."""

    without_mods: bool = False
    environment: frozenset[str] = frozenset()


def refusals(recipe: Recipe, places: Places, allowance: Allowance) -> Iterator[Refusal]:
    """Every reason against one vLLM on one machine with an address of its own."""
    yield from _unfit(recipe, places)
    if not allowance.without_mods:
        yield from _left_out(recipe, places)
    yield from _words(recipe)
    for name, value in recipe.environment.items():
        yield from _variable(name, value, places, allowance)


def _unfit(recipe: Recipe, places: Places) -> Iterator[Refusal]:
    command = recipe.command
    if not command.is_vllm_serve:
        started = short(" ".join(command.program)) or "nothing"
        message = f"the command starts `{started}`, and only `vllm serve` can be launched"
        remedy = "begin it with `vllm serve MODEL`, or use what made the recipe"
        yield _refusal(Reason.OTHER_ENGINE, places.value(_COMMAND), message, remedy)
    elif command.model is None:
        message = "the command names no model, and vLLM would load a default of its own"
        remedy = "write the model behind `vllm serve`"
        yield _refusal(Reason.NO_MODEL, places.value(_COMMAND), message, remedy)
    if recipe.min_nodes is not None and recipe.min_nodes > 1:
        place = next((places.value((key,)) for key in _NODES if (key,) in places.entries), None)
        message = f"the recipe needs {recipe.min_nodes} machines, and this is one"
        remedy = "use sparkrun or spark-vllm-docker for clusters"
        yield _refusal(Reason.SEVERAL_MACHINES, place or places.root, message, remedy)
    for name, reason in _SILENT_FLAGS.items():
        if flag := command.flags.get(name):
            message = f"`{name}` cannot be launched"
            yield _refusal(Reason.SILENT_FLAG, flag.place, message, reason)


def _left_out(recipe: Recipe, places: Places) -> Iterator[Refusal]:
    """What the recipe wants beside the command, and would not get."""
    remedy = "use the container (`--docker` prints its command), or add `--ignore-mods`"
    if recipe.mods:
        message = (
            f"mods are patches of a container and not applied: {short(', '.join(recipe.mods))}"
        )
        yield _refusal(Reason.LEFT_OUT, places.key(("mods",)), message, remedy)
    for hook in recipe.hooks:
        message = f"hooks are never run: {hook}"
        yield _refusal(Reason.LEFT_OUT, places.key((hook,)), message, remedy)


def _words(recipe: Recipe) -> Iterator[Refusal]:
    for word in recipe.command.words:
        if not word.text.isprintable():
            shown = printable(word.text)[:_SHOWN_CHARACTERS]
            message = f"an argument holds a character that cannot be seen: {shown}"
            yield _refusal(Reason.UNSEEN, word.place, message, "write it on one line")


def _variable(name: str, value: str, places: Places, allowance: Allowance) -> Iterator[Refusal]:
    place, shown = places.key(("env", name)), f"`env.{short(name)}`"
    if not _NAME.fullmatch(name):
        remedy = "use letters, digits and `_`, and no digit first"
        yield _refusal(Reason.VARIABLE_NAME, place, f"{shown} is no name for a variable", remedy)
    elif not value.isprintable():
        message = f"{shown} holds a character that cannot be seen, such as a line break"
        yield _refusal(Reason.UNSEEN, place, message, "write it on one line")
    elif is_steering(name) and name not in allowance.environment:
        message = f"{shown} decides what code runs beside vLLM's own, and a recipe must not"
        remedy = f"set it yourself before the start, or add `--allow-env {name}`"
        yield _refusal(Reason.STEERING, place, message, remedy)


def _refusal(reason: Reason, place: Place, message: str, remedy: str) -> Refusal:
    return Refusal(reason, Problem(place, message, remedy))
