"""What will be run for a recipe: vLLM's own program with the recipe's argument list, or nothing.

No text of a recipe chooses the program, adds a second one, or reaches a shell.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from proxy.errors import Place, Problem, RecipeError
from proxy.recipes.lane.labels import short
from proxy.recipes.recipe import Recipe
from proxy.recipes.show.printable import printable

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
# What steers the loader, the interpreter or a shell before vLLM's first line runs.
_STEERING: Final = re.compile(
    r"(LD|DYLD)_\w*|PYTHON\w*|GCONV_PATH|GLIBC_TUNABLES|PATH|BASH_ENV|ENV"
)
_HARMLESS: Final = frozenset(
    {
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONFAULTHANDLER",
        "PYTHONHASHSEED",
        "PYTHONUNBUFFERED",
        "PYTHONUTF8",
    }
)
# What vLLM and its libraries load or run by name; public recipes need some of them.
_RUNS_CODE: Final = re.compile(
    r"\w*_(PLUGINS?|SO_PATH|COMPILER|PTXAS_PATH)|CC|CXX|CUDA_HOME|CUDA_PATH|VLLM_PLUGINS"
)
_CODE_FLAGS: Final = (
    "--trust-remote-code",
    "--tool-parser-plugin",
    "--reasoning-parser-plugin",
    "--middleware",
    "--worker-extension-cls",
    "--worker-cls",
    "--logits-processors",
)
_SILENT_FLAGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "--headless": "a headless node answers no requests; start the head",
        "--uds": "`recipe up` and the proxy reach the engine over TCP; remove it",
        "--config": "what it names would not be seen; write its flags into the recipe",
    }
)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the user takes upon himself. `environment` names variables that are refused else."""

    without_mods: bool = False
    environment: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """What is run: a program by its path, and its arguments, as one list.

    `environment` is laid over the launcher's own. `notes` are what the user should know of it.
    """

    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    notes: tuple[str, ...] = ()


def launch_plan(
    recipe: Recipe, program: Sequence[str], allowance: Allowance | None = None
) -> LaunchPlan:
    """Plan the start of a recipe on this machine; `program` is that of the installed vLLM.

    Raises `RecipeError` with every reason against it.
    """
    allowed = allowance or Allowance()
    problems = [*_unfit(recipe), *_left_out(recipe, allowed), *_texts(recipe, allowed)]
    if problems:
        raise RecipeError(problems)
    arguments = (*program, "serve", *recipe.command.arguments)
    return LaunchPlan(arguments, dict(recipe.environment), tuple(_notes(recipe, allowed)))


def _unfit(recipe: Recipe) -> Iterator[Problem]:
    """Why this cannot be one vLLM on one machine, with an address of its own."""
    whole = Place(str(recipe.file))
    if not recipe.command.is_vllm:
        started = short(" ".join(recipe.command.program)) or "nothing"
        message = f"the command starts `{started}`, and only vLLM can be launched"
        yield Problem(whole, message, "begin it with `vllm serve`, or use what made the recipe")
    if recipe.min_nodes is not None and recipe.min_nodes > 1:
        message = f"the recipe needs {recipe.min_nodes} machines, and this is one"
        yield Problem(whole, message, "use sparkrun or spark-vllm-docker for clusters")
    for name, reason in _SILENT_FLAGS.items():
        if flag := recipe.command.flags.get(name):
            yield Problem(flag.place, f"`{name}` cannot be launched", reason)


def _left_out(recipe: Recipe, allowed: Allowance) -> Iterator[Problem]:
    """What the recipe wants beside the command, and would not get."""
    if allowed.without_mods:
        return
    place = Place(str(recipe.file))
    remedy = "use the container (`--docker` prints its command), or add `--ignore-mods`"
    if recipe.mods:
        mods = short(", ".join(recipe.mods))
        yield Problem(place, f"mods are patches of a container and not applied: {mods}", remedy)
    if recipe.hooks:
        yield Problem(place, f"hooks are never run: {', '.join(recipe.hooks)}", remedy)


def _texts(recipe: Recipe, allowed: Allowance) -> Iterator[Problem]:
    """Words that no list of arguments and no environment should hold."""
    for word in recipe.command.words:
        if not word.text.isprintable():
            message = (
                f"an argument holds a character that cannot be seen: {printable(word.text)[:80]}"
            )
            yield Problem(word.place, message, "write it on one line")
    for name, value in recipe.environment.items():
        place = Place(f"{recipe.file} env.{short(name)}")
        if not _NAME.fullmatch(name):
            yield Problem(place, "is no name for a variable", "use letters, digits and `_`")
        elif not value.isprintable():
            message = "the value holds a character that cannot be seen, such as a line break"
            yield Problem(place, message, "write it on one line")
        elif _is_steering(name) and name not in allowed.environment:
            message = "decides what code runs before vLLM does, and a recipe must not"
            remedy = f"set it yourself before the start, or add `--allow-env {name}`"
            yield Problem(place, message, remedy)


def _notes(recipe: Recipe, allowed: Allowance) -> Iterator[str]:
    flags = [name for name in _CODE_FLAGS if name in recipe.command.flags]
    variables = [
        name for name in recipe.environment if _RUNS_CODE.fullmatch(name) or _is_steering(name)
    ]
    if flags or variables:
        yield f"code from outside vLLM is run or loaded: {', '.join([*flags, *variables])}"
    if allowed.without_mods and (recipe.mods or recipe.hooks):
        yield f"left out: {short(', '.join([*recipe.mods, *recipe.hooks]))}"


def _is_steering(name: str) -> bool:
    return bool(_STEERING.fullmatch(name)) and name not in _HARMLESS
