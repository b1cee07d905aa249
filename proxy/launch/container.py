"""The container command of a recipe, to be printed: whoever runs it does so himself.

The options are those on which sparkrun and spark-vllm-docker agree: all GPUs, the host's network
and its shared memory, without which several GPUs cannot talk; the cache of models from outside.
"""

import shlex
from typing import Final

from proxy.errors import Problem, RecipeError
from proxy.launch.plan import LaunchPlan, launch_plan
from proxy.recipes.launchable.image_name import image_problem
from proxy.recipes.launchable.refusals import Allowance
from proxy.recipes.reading import Reading

_OPTIONS: Final = (
    *("docker", "run", "--rm", "--gpus", "all", "--network", "host", "--ipc", "host"),
    *("--ulimit", "memlock=-1", "--ulimit", "stack=67108864"),
)
_CACHE: Final = ".cache/huggingface"


def container_command(reading: Reading) -> tuple[str, ...]:
    """`docker run …` as one list. Raises `RecipeError` as `launch_plan` does, or without image.

    The entry point is cleared, since that of the official images is `vllm serve` itself.
    """
    return _command(_plan(reading), _image(reading))


def shown_command(reading: Reading) -> str:
    """The same for a shell, quoted, one option a line; with the user's cache of models.

    The folder is written as `$HOME`, which is the only thing that the shell replaces. What the
    user should know of it stands above, in comments.
    """
    plan = _plan(reading)
    words = _command(plan, _image(reading))
    notes = "".join(f"# {note}\n" for note in plan.notes)
    at = words.index("--entrypoint")
    options = " ".join(map(shlex.quote, words[: len(_OPTIONS)]))
    variables = [f"-e {shlex.quote(word)}" for word in words[len(_OPTIONS) + 1 : at : 2]]
    volume = f'-v "$HOME/{_CACHE}:/root/{_CACHE}"'
    rest = " ".join(map(shlex.quote, words[at:]))
    return notes + " \\\n  ".join([options, volume, *variables, rest])


def _plan(reading: Reading) -> LaunchPlan:
    """In a container, what steers its programs steers nothing of ours."""
    environment = frozenset(reading.recipe.environment if reading.recipe else ())
    return launch_plan(reading, ("vllm",), Allowance(without_mods=True, environment=environment))


def _image(reading: Reading) -> str:
    image = reading.whole().container
    place = reading.document.places.value(("container",))
    if not image:
        raise RecipeError([Problem(place, "names no container", "add `container: IMAGE`")])
    if problem := image_problem(image, place):
        raise RecipeError([problem])
    return image


def _command(plan: LaunchPlan, image: str) -> tuple[str, ...]:
    variables = (f"{name}={value}" for name, value in sorted(plan.environment.items()))
    return (
        *_OPTIONS,
        *(word for variable in variables for word in ("-e", variable)),
        *("--entrypoint", "", image),
        *plan.arguments,
    )
