"""What will be run for a recipe: vLLM's own program with the recipe's argument list, or nothing.

No text of a recipe chooses the program, adds a second one, or reaches a shell.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proxy.errors import Problem, RecipeError
from proxy.recipes.check.text_faults import text_faults
from proxy.recipes.lane.labels import short
from proxy.recipes.launchable.outside_code import outside_code
from proxy.recipes.launchable.refusals import Allowance, refusals
from proxy.recipes.reading import Reading
from proxy.recipes.recipe import Recipe


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """What is run: a program by its path, and its arguments, as one list.

    `environment` is laid over the launcher's own. `notes` are what the user should know of it.
    """

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    notes: tuple[str, ...] = ()


def launch_plan(
    reading: Reading, program: Sequence[str], allowance: Allowance | None = None
) -> LaunchPlan:
    """Plan the start of a recipe on this machine; `program` is that of the installed vLLM.

    Raises `RecipeError` with every reason against it: what cannot be read, what a shell would
    have read otherwise, and what cannot be had here.
    """
    allowed = allowance or Allowance()
    recipe = reading.recipe
    problems = sorted(dict.fromkeys(_problems(reading, allowed)), key=_position)
    if problems or recipe is None:
        raise RecipeError(problems)
    arguments = (*program, "serve", *recipe.command.arguments)
    return LaunchPlan(arguments, dict(recipe.environment), tuple(_notes(recipe, allowed)))


def _problems(reading: Reading, allowed: Allowance) -> Iterator[Problem]:
    yield from reading.problems
    yield from text_faults(reading)
    if reading.recipe is not None:
        for refusal in refusals(reading.recipe, reading.document.places, allowed):
            yield refusal.problem


def _position(problem: Problem) -> tuple[str, int, int]:
    return problem.place.file, problem.place.line, problem.place.column


def _notes(recipe: Recipe, allowed: Allowance) -> Iterator[str]:
    if outside := ", ".join(outside_code(recipe)):
        yield f"code from outside vLLM is run or loaded: {outside}"
    if allowed.without_mods and (recipe.mods or recipe.hooks):
        yield f"left out: {short(', '.join([*recipe.mods, *recipe.hooks]))}"
