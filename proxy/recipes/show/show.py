"""`sluicegate recipe show`: one recipe as a table, as a shell's command or variables, as JSON."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from proxy.errors import Place, RecipeError
from proxy.ledger.columns import table
from proxy.recipes.check.text_faults import text_faults
from proxy.recipes.compare.switches import Switch, loaded_model, switches_of
from proxy.recipes.parsing.overrides import Overrides
from proxy.recipes.parsing.value_origin import Origins
from proxy.recipes.reading import open_recipe
from proxy.recipes.recipe import Recipe, Version
from proxy.recipes.show.printable import printable
from proxy.recipes.show.recipe_json import recipe_json
from proxy.recipes.show.secrets import MASK, Secrets, is_secret
from proxy.recipes.show.shell import command_line, command_lines, variable_lines
from proxy.recipes.show.speculation_words import speculation_words
from proxy.yaml_places import Places

_HEADINGS: Final = ("group", "switch", "from", "value")
_FORMATS: Final = {
    Version.SPARK_VLLM_DOCKER: "version 1 (spark-vllm-docker)",
    Version.SPARKRUN: "version 2 (sparkrun)",
}
_LABEL_COLUMNS: Final = 13
_TEXT_COLUMNS: Final = 100


class ShowForm(StrEnum):
    """What a recipe is shown as.

    `COMMAND` has one flag a line and is for people, `COMMAND_LINE` is one line for programs.
    These two and `ENVIRONMENT` are for running: they hold secrets as they are.
    """

    TABLE = "table"
    COMMAND = "command"
    COMMAND_LINE = "command_line"
    ENVIRONMENT = "environment"
    JSON = "json"


_COMMANDS: Final = frozenset({ShowForm.COMMAND, ShowForm.COMMAND_LINE})


def show_file(path: Path, overrides: Sequence[str], form: ShowForm) -> Iterator[str]:
    """The lines of one form of a recipe's file; overrides are named where they set a value.

    Raises `RecipeError` with every problem in the file, for a command also with what a shell would
    have read otherwise in it, and as `show_lines` does.
    """
    reading = open_recipe(path, overrides)
    if reading.problems or reading.recipe is None or reading.command is None:
        raise RecipeError(reading.problems)
    if form in _COMMANDS and (faults := list(text_faults(reading))):
        raise RecipeError(faults)
    places = reading.document.places
    origins = Origins.of(reading.command, places, frozenset(Overrides.of(overrides, []).values))
    yield from show_lines(reading.recipe, form, places, origins)


def show_lines(
    recipe: Recipe,
    form: ShowForm,
    places: Places | None = None,
    origins: Origins | None = None,
) -> Iterator[str]:
    """The lines of one form; `places` and `origins` are those of the recipe's file.

    Raises `RecipeError` where a form for a shell would hold what no shell should be given.
    """
    match form:
        case ShowForm.TABLE:
            yield from _head(recipe)
            yield ""
            yield from _switches(recipe, switches_of(recipe, places, origins).values())
        case ShowForm.COMMAND:
            yield from command_lines(recipe)
        case ShowForm.COMMAND_LINE:
            yield command_line(recipe)
        case ShowForm.ENVIRONMENT:
            yield from variable_lines(recipe)
        case ShowForm.JSON:
            yield recipe_json(recipe)


def _head(recipe: Recipe) -> Iterator[str]:
    yield printable(recipe.name)
    yield from textwrap.wrap(
        printable(recipe.description), _TEXT_COLUMNS, initial_indent="  ", subsequent_indent="  "
    )
    version = _FORMATS[recipe.version]
    about = {
        "model": loaded_model(recipe),
        "speculation": speculation_words(recipe),
        "file": f"{recipe.file}, {version}, hash {recipe.hash}",
    }
    for label, text in about.items():
        yield f"  {label.ljust(_LABEL_COLUMNS)}{printable(text)}"


def _switches(recipe: Recipe, switches: Iterable[Switch]) -> Iterator[str]:
    secrets = Secrets.of(recipe)
    rows, group = [], ""
    for switch in switches:
        shown = "" if switch.group == group else str(switch.group)
        group = switch.group
        rows.append((shown, printable(switch.name), _from(switch.place), _value(switch, secrets)))
    yield from table(_HEADINGS, rows)


def _from(place: Place) -> str:
    """Its line; an override names itself."""
    return f"line {place.line}" if place.line else printable(place.file)


def _value(switch: Switch, secrets: Secrets) -> str:
    return MASK if is_secret(switch.name) else printable(secrets.mask(switch.value))
