"""From a recipe's command to its argument list: split, filled in, flags told apart.

Placeholders are filled in word by word, after the splitting: a value never becomes two words, and
no character of it is ever read by a shell.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from proxy.errors import Problem
from proxy.recipes.parsing.braces import EndlessValue, Values, doubles_braces, placeholders
from proxy.recipes.parsing.flags import read_arguments
from proxy.recipes.parsing.keys import KeyReader
from proxy.recipes.parsing.overrides import Overrides
from proxy.recipes.parsing.words import Oddity, Script, Word, split_script
from proxy.recipes.recipe import Argument, Command, Version
from proxy.recipes.vllm.facts import VllmFacts

COMMAND: Final = ("command",)
MAX_CHARACTERS: Final = 64 * 1024
ENGINES: Final = ("vllm", "sglang", "llama-server", "trtllm-serve", "atlas")
_MODEL: Final = "model"
_MODEL_FLAG: Final = "--model"
_PROGRAM_WORDS: Final = 2
_SERVE: Final = "serve"


@dataclass(frozen=True, slots=True)
class ReadCommand:
    """The command's text, how it was split, the words of the engine's part, and what it comes to.

    `template` are the words with their placeholders, `values` the defaults with the overrides that
    fill placeholders laid over them.
    """

    text: str
    script: Script
    template: tuple[Word, ...]
    values: Mapping[str, str]
    command: Command


def read_command(
    keys: KeyReader,
    version: Version,
    defaults: Mapping[str, str],
    overrides: Overrides,
    facts: VllmFacts,
) -> ReadCommand | None:
    """None where there is no command to split; problems are added to those of `keys`."""
    text = keys.text(COMMAND)
    if text is None:
        if not keys.has(COMMAND):
            keys.add((), "the key `command` is missing", "add `command: vllm serve MODEL ...`")
        return None
    if len(text) > MAX_CHARACTERS:
        message = f"`command` is longer than {MAX_CHARACTERS // 1024} KiB"
        keys.add(COMMAND, message, "no command line needs that; check the indentation")
        return None
    script = split_script(text)
    template = _engine_command(script)
    _refuse_open_quotes(keys, text, script)
    if not template:
        keys.add(COMMAND, "`command` starts nothing", "write `vllm serve MODEL ...`")
        return None
    names = frozenset(placeholders(" ".join(word.text for word in template)))
    values = {**defaults, **overrides.filling(names)}
    known = Values({**_model_value(keys), **values}, nested=version is Version.SPARKRUN)
    filler = _Filler(keys, text, known)
    words = tuple(filler.arguments(template))
    words += tuple(overrides.arguments(names, facts, keys.problems))
    return ReadCommand(text, script, template, values, _command(words, facts))


def _engine_command(script: Script) -> tuple[Word, ...]:
    """The last command that starts an engine, else the last one; `exec` before it is nothing."""
    commands = [command[_is_exec(command) :] for command in script.commands]
    engines = [command for command in commands if command and _program(command[0]) in ENGINES]
    return (engines or [(), *commands])[-1]


def _is_exec(command: tuple[Word, ...]) -> bool:
    return command[0].text == "exec"


def _program(word: Word) -> str:
    return word.text.rpartition("/")[2]


def _refuse_open_quotes(keys: KeyReader, text: str, script: Script) -> None:
    for note in script.notes:
        if note.oddity is Oddity.OPEN_QUOTE:
            place = keys.places.inside(COMMAND, text, note.offset)
            message = f"the quote {note.text} is not closed"
            keys.problems.append(Problem(place, message, "close it"))


def _model_value(keys: KeyReader) -> dict[str, str]:
    """`{model}` is always available, as in sparkrun."""
    model = keys.data.get(_MODEL)
    return {_MODEL: model} if isinstance(model, str) else {}


@dataclass(frozen=True, slots=True)
class _Filler:
    """Fills in the placeholders of a command's words."""

    keys: KeyReader
    text: str
    values: Values

    def arguments(self, template: Sequence[Word]) -> Iterator[Argument]:
        doubled = doubles_braces(self.text)
        for word in template:
            place = self.keys.places.inside(COMMAND, self.text, word.offset)
            try:
                yield Argument(self.values.fill(word.text, doubled=doubled), place)
            except EndlessValue as error:
                remedy = "let no value name itself, and write long ones out"
                self.keys.problems.append(Problem(place, f"`{word.text[:80]}` {error}", remedy))
                yield Argument(word.text, place)


def _command(words: tuple[Argument, ...], facts: VllmFacts) -> Command:
    has_serve = len(words) >= _PROGRAM_WORDS and words[1].text == _SERVE
    begin = _PROGRAM_WORDS if has_serve else 1
    read = read_arguments(words[begin:], facts)
    model_flag = read.flags.get(_MODEL_FLAG)
    model = read.words[0].text if read.words else (model_flag.value if model_flag else None)
    return Command(
        program=tuple(word.text for word in words[:begin]),
        words=words[begin:],
        model=model,
        written=read.written,
        flags=read.flags,
        stray=read.words[1:],
    )
