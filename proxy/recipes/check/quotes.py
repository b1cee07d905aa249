"""Values that would leave the quotes round their placeholder, if a shell read the command."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Final

from proxy.recipes.check.finding import Finding, Severity
from proxy.recipes.check.subject import Subject
from proxy.recipes.parsing.arguments import COMMAND, MAX_FILLED_CHARACTERS
from proxy.recipes.parsing.braces import EndlessValue, Values, doubles_braces, placeholders
from proxy.recipes.parsing.words import Oddity, Word, split_script
from proxy.recipes.recipe import Version

_MODEL: Final = "model"
_SHOWN_CHARACTERS: Final = 60


def check_quotes(subject: Subject) -> Iterator[Finding]:
    """Each quoted word whose value is not text alone inside its quotes."""
    read, fill = subject.read, _filler(subject)
    offsets = [*(word.offset for word in read.template), len(read.text)]
    if len(" ".join(subject.recipe.command.arguments)) > MAX_FILLED_CHARACTERS:
        return
    for word, (begin, end) in zip(read.template, pairwise(offsets), strict=True):
        written = read.text[begin:end]
        if word.quoted and placeholders(word.text) and _leaves(word, written, fill):
            yield Finding(
                Severity.WARNING,
                "value-leaves-quotes",
                subject.document.places.inside(COMMAND, read.text, begin),
                f"a value in `{word.text[:_SHOWN_CHARACTERS]}` would not stay text inside its "
                "quotes in a shell; here it does",
                "use single quotes, and a value without them",
            )


def _leaves(word: Word, written: str, fill: Callable[[str], str]) -> bool:
    """Whether a shell would read another first word, or notes more, once the text is filled in."""
    try:
        wanted, filled = fill(word.text), fill(written)
    except EndlessValue:
        return False
    return _shape(filled) != _shape(written) or _first(filled) != wanted


def _filler(subject: Subject) -> Callable[[str], str]:
    """Fills a text in as launchers do before the shell reads it."""
    model = subject.document.text(_MODEL)
    own = {} if model is None else {_MODEL: model}
    nested = subject.document.version is Version.SPARKRUN
    values = Values({**own, **subject.read.values}, nested=nested)
    return partial(values.fill, doubled=doubles_braces(subject.read.text))


def _shape(text: str) -> tuple[list[int], list[Oddity]]:
    """How many words each command has, and what was noted."""
    script = split_script(text)
    return [len(command) for command in script.commands], [note.oddity for note in script.notes]


def _first(text: str) -> str:
    return next((command[0].text for command in split_script(text).commands), "")
