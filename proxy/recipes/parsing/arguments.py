"""From a recipe's command to its argument list: split, filled in, flags told apart.

Placeholders are filled in word by word, after the splitting: a value never becomes two words, and
no character of it is ever read by a shell.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from proxy.errors import Place, Problem
from proxy.recipes.parsing.braces import EndlessValue, Values, doubles_braces, placeholders
from proxy.recipes.parsing.engine import EXEC, plain_start, program_length, wrapped_start
from proxy.recipes.parsing.flags import read_arguments
from proxy.recipes.parsing.keys import KeyReader
from proxy.recipes.parsing.overrides import Overrides
from proxy.recipes.parsing.words import Oddity, Script, Word, split_script
from proxy.recipes.recipe import VLLM_MODULES, Argument, Command, Version
from proxy.recipes.vllm.facts import VllmFacts

COMMAND: Final = ("command",)
MAX_CHARACTERS: Final = 64 * 1024
MAX_FILLED_CHARACTERS: Final = 256 * 1024
_MODEL: Final = "model"
_MODEL_FLAG: Final = "--model"
_WITHOUT_MODEL_WORD: Final = VLLM_MODULES[-1]


@dataclass(frozen=True, slots=True)
class ReadCommand:
    """The command's text, how it was split, the words of the engine's part, and what it comes to.

    `template` are the words from the engine's program on, with their placeholders, and `before`
    those of the same command that stand before it. `values` are the defaults with the overrides
    that fill placeholders laid over them.
    """

    text: str
    script: Script
    before: tuple[Word, ...]
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
    before, template = _engine_command(script)
    _refuse_open_quotes(keys, text, script)
    if not template:
        keys.add(COMMAND, "`command` starts nothing", "write `vllm serve MODEL ...`")
        return None
    names = frozenset(placeholders(" ".join(word.text for word in (*before, *template))))
    values = {**defaults, **overrides.filling(names)}
    known = Values({**_model_value(keys), **values}, nested=version is Version.SPARKRUN)
    filler = _Filler(keys, text, known)
    first = tuple(word.text for word in filler.arguments(before))
    words = tuple(filler.arguments(template))
    words += tuple(overrides.arguments(names, facts, keys.problems))
    command = _command(first, words, facts)
    return ReadCommand(text, script, before, template, values, command)


def _engine_command(script: Script) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The words before the engine and those from it on, of the last command that starts one.

    Failing that, of the last one that hands an engine to another program, else of the last one.
    `exec` before the engine is nothing.
    """
    for begin_of in (plain_start, wrapped_start):
        for command in reversed(script.commands):
            begin = begin_of([word.text for word in command])
            if begin is not None:
                before = tuple(word for word in command[:begin] if word.text != EXEC)
                return before, command[begin:]
    last = script.commands[-1] if script.commands else ()
    return (), last[_is_exec(last) :]


def _is_exec(command: tuple[Word, ...]) -> bool:
    return bool(command) and command[0].text == EXEC


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
        """Behind the word with which they grow too long all others stay as they are."""
        length, doubled = 0, doubles_braces(self.text)
        for word in template:
            place = self.keys.places.inside(COMMAND, self.text, word.offset)
            if length > MAX_FILLED_CHARACTERS:
                yield Argument(word.text, place)
                continue
            argument = Argument(self._filled(word, place, doubled=doubled), place)
            length += len(argument.text)
            if length > MAX_FILLED_CHARACTERS:
                message = f"the arguments grow beyond {MAX_FILLED_CHARACTERS // 1024} KiB here"
                problem = Problem(place, message, "no command line can hold that; fill in less")
                self.keys.problems.append(problem)
            yield argument

    def _filled(self, word: Word, place: Place, *, doubled: bool) -> str:
        try:
            return self.values.fill(word.text, doubled=doubled)
        except EndlessValue as error:
            remedy = "let no value name itself, and write long ones out"
            self.keys.problems.append(Problem(place, f"`{word.text[:80]}` {error}", remedy))
            return word.text


def _command(before: tuple[str, ...], words: tuple[Argument, ...], facts: VllmFacts) -> Command:
    begin = program_length([word.text for word in words])
    program = tuple(word.text for word in words[:begin])
    read = read_arguments(words[begin:], facts)
    model_flag = read.flags.get(_MODEL_FLAG)
    # Started as this module, vLLM reads a first word that is no flag and makes nothing of it.
    taken = 0 if program[-1:] == _WITHOUT_MODEL_WORD else 1
    named = [word.text for word in read.words[:taken]]
    model = named[0] if named else (model_flag.value if model_flag else None)
    return Command(
        program=program,
        words=words[begin:],
        model=model,
        written=read.written,
        flags=read.flags,
        stray=read.words[taken:],
        before=before,
    )
