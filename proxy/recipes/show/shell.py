"""A recipe's command and environment as text for a POSIX shell, which reads exactly that list."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from proxy.errors import Place, Problem, RecipeError
from proxy.recipes.recipe import Argument, Recipe

_CONTINUED: Final = " \\"
_INDENT: Final = "  "
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A terminal obeys control characters and turns text round at the others; a lone surrogate cannot
# be written at all. Line ends and tabs are plain text inside quotes.
_UNSAFE: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def command_lines(recipe: Recipe) -> Iterator[str]:
    """The command with one flag a line, to be pasted. Raises `RecipeError` as `command_line`."""
    _refuse_unsafe(recipe.command.words)
    pieces = list(_pieces((*recipe.command.program, *recipe.command.arguments)))
    for number, piece in enumerate(pieces, start=1):
        indent = _INDENT if number > 1 else ""
        continued = _CONTINUED if number < len(pieces) else ""
        yield f"{indent}{shlex.join(piece)}{continued}"


def command_line(recipe: Recipe) -> str:
    """The command on one line; `shlex.split` gives its words back.

    Raises `RecipeError` for a word that could steer a terminal.
    """
    _refuse_unsafe(recipe.command.words)
    return shlex.join((*recipe.command.program, *recipe.command.arguments))


def variable_lines(recipe: Recipe) -> Iterator[str]:
    """`NAME='value'`, one variable a line. Raises `RecipeError` for what is no name."""
    environment = recipe.environment
    _refuse_names(recipe, environment)
    place = Place(str(recipe.file))
    _refuse_unsafe([Argument(value, place) for value in environment.values()])
    for name, value in environment.items():
        quoted = value.replace("'", "'\\''")
        yield f"{name}='{quoted}'"


def _pieces(words: Sequence[str]) -> Iterator[list[str]]:
    """The words, a new piece where one begins with a hyphen."""
    piece: list[str] = []
    for word in words:
        if piece and word.startswith("-"):
            yield piece
            piece = []
        piece.append(word)
    yield piece


def _refuse_unsafe(words: Sequence[Argument]) -> None:
    problems = [
        Problem(
            word.place,
            f"the value holds the character U+{ord(found[0]):04X}, which a terminal may obey",
            "remove it, or read the value from `--json`",
        )
        for word in words
        if (found := _UNSAFE.search(word.text))
    ]
    if problems:
        raise RecipeError(problems)


def _refuse_names(recipe: Recipe, environment: Mapping[str, str]) -> None:
    place = Place(str(recipe.file))
    problems = [
        Problem(
            place,
            f"`{ascii(name)[1:-1][:80]}` is no name of an environment variable",
            "use letters, digits and `_`, no digit first",
        )
        for name in environment
        if not _NAME.fullmatch(name)
    ]
    if problems:
        raise RecipeError(problems)
