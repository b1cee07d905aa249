"""The container command of a recipe, to be printed: whoever runs it does so himself.

The options are those on which sparkrun and spark-vllm-docker agree: all GPUs, the host's network
and its shared memory, without which several GPUs cannot talk; the cache of models from outside.
"""

import shlex
from typing import Final

from proxy.errors import Place, Problem, RecipeError
from proxy.launch.plan import Allowance, launch_plan
from proxy.recipes.recipe import Recipe

_OPTIONS: Final = (
    *("docker", "run", "--rm", "--gpus", "all", "--network", "host", "--ipc", "host"),
    *("--ulimit", "memlock=-1", "--ulimit", "stack=67108864"),
)
_CACHE: Final = ".cache/huggingface"


def container_command(recipe: Recipe) -> tuple[str, ...]:
    """`docker run …` as one list. Raises `RecipeError` as `launch_plan` does, or without image.

    The entry point is cleared, since that of the official images is `vllm serve` itself.
    """
    plan = launch_plan(recipe, ("vllm",), _inside(recipe))
    if not recipe.container:
        problem = Problem(Place(str(recipe.file)), "names no container", "add `container: IMAGE`")
        raise RecipeError([problem])
    if recipe.container.startswith("-"):
        problem = Problem(Place(str(recipe.file)), "`container` is no image", "name an image")
        raise RecipeError([problem])
    variables = (f"{name}={value}" for name, value in sorted(plan.environment.items()))
    return (
        *_OPTIONS,
        *(word for variable in variables for word in ("-e", variable)),
        *("--entrypoint", "", recipe.container),
        *plan.arguments,
    )


def shown_command(recipe: Recipe) -> str:
    """The same for a shell, quoted, one option a line; with the user's cache of models.

    The folder is written as `$HOME`, which is the only thing that the shell replaces. What the
    user should know of it stands above, in comments.
    """
    notes = [f"# {note}\n" for note in launch_plan(recipe, ("vllm",), _inside(recipe)).notes]
    words = container_command(recipe)
    at = words.index("--entrypoint")
    options = " ".join(map(shlex.quote, words[: len(_OPTIONS)]))
    variables = [f"-e {shlex.quote(word)}" for word in words[len(_OPTIONS) + 1 : at : 2]]
    volume = f'-v "$HOME/{_CACHE}:/root/{_CACHE}"'
    rest = " ".join(map(shlex.quote, words[at:]))
    return "".join(notes) + " \\\n  ".join([options, volume, *variables, rest])


def _inside(recipe: Recipe) -> Allowance:
    """In a container, what steers its programs steers nothing of ours."""
    return Allowance(without_mods=True, environment=frozenset(recipe.environment))
