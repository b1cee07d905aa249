"""The text of a recipe's command: what a shell would make of it, and what is lost on the way."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from proxy.errors import Place
from proxy.recipes.check.finding import Finding, Severity
from proxy.recipes.check.subject import Subject
from proxy.recipes.parsing.arguments import COMMAND
from proxy.recipes.parsing.braces import placeholders
from proxy.recipes.parsing.engine import ASSIGNMENT
from proxy.recipes.parsing.words import Note, Oddity, Word
from proxy.recipes.show.secrets import is_secret

_HARMLESS_BEFORE: Final = frozenset({"export", "set", "exec", "cd", "source", ".", "ulimit"})
_JOINERS: Final = frozenset({";", "&&"})
_SHELL_CHARACTERS: Final = frozenset(" \t\n;&|()<>\"'`$*?[]{}~#!\\")
# A home folder, names of files, and several words of one.
_PATTERN: Final = re.compile(r"^~|[*?]|\[[^\[\]]*\]|\{[^{}]*(,|\.\.)[^{}]*\}")
_SHOWN_CHARACTERS: Final = 60


def check_text(subject: Subject) -> Iterator[Finding]:
    """Everything that a command holds beside the words of the engine."""
    text = _Text(subject)
    for note in _noted(subject.read.script.notes):
        yield from text.of_note(note)
    yield from text.before_the_engine()
    yield from text.other_commands()
    yield from text.control_characters()
    if subject.recipe.command.is_vllm:
        yield from text.unquoted_values()


def _noted(notes: Sequence[Note]) -> Iterator[Note]:
    """Of what belongs together only the first: the brackets of `$(...)`, the second backtick."""
    in_brackets = in_backticks = False
    for note in notes:
        is_backtick = note.oddity is Oddity.SUBSTITUTION and note.text.startswith("`")
        is_bracket = note.oddity is Oddity.SEPARATOR and note.text in {"(", ")"}
        if (is_backtick and in_backticks) or (is_bracket and in_brackets):
            in_backticks = in_backticks and not is_backtick
            continue
        in_backticks = in_backticks or is_backtick
        in_brackets = in_brackets or (note.oddity is Oddity.SUBSTITUTION and not is_backtick)
        yield note


@dataclass(frozen=True, slots=True)
class _Text:
    subject: Subject

    def of_note(self, note: Note) -> Iterator[Finding]:
        match note.oddity:
            case Oddity.MISSING_CONTINUATION:
                yield self._error(
                    note,
                    "missing-continuation",
                    "the line ends without a backslash, and the next one begins with a flag: "
                    "a shell would run that as another command",
                    "end the line with ` \\`",
                )
            case Oddity.BLANK_AFTER_BACKSLASH:
                yield self._error(
                    note,
                    "blank-after-backslash",
                    "a blank behind the backslash: for a shell the command ends here",
                    "remove the blank",
                )
            case Oddity.OPEN_QUOTE:
                message = f"the quote {note.text} is not closed"
                yield self._error(note, "open-quote", message, "close it")
            case Oddity.COMMENT:
                yield self._finding(
                    Severity.WARNING,
                    note,
                    "comment-in-command",
                    "a comment inside the command: for a shell the command ends here",
                    "put comments above `command`",
                )
            case _:
                yield from self._of_shell(note)

    def _of_shell(self, note: Note) -> Iterator[Finding]:
        """What only a shell would do; nothing of it happens here."""
        is_before = note.offset < self.subject.read.template[0].offset
        match note.oddity:
            case Oddity.SUBSTITUTION:
                what = "a backtick" if note.text.startswith("`") else "`$(`"
                message = f"{what} would run a program in a shell; here it stays text"
                yield self._error(note, "substitution", message, "write the value out")
            case Oddity.REDIRECTION:
                message = f"`{note.text}` would redirect in a shell; here nothing is redirected"
                yield self._error(note, "redirection", message, "remove it and what follows it")
            case Oddity.SEPARATOR if not (is_before and note.text in _JOINERS):
                message = f"`{note.text}` is for a shell, and no shell reads the command"
                remedy = "leave one command: the engine and its flags"
                yield self._error(note, "shell-operator", message, remedy)
            case Oddity.SHELL_QUOTE:
                message = f"`{note.text}` opens a quote of bash; here the `$` stays text"
                yield self._error(note, "shell-quote", message, "remove the `$`")
            case Oddity.VARIABLE if not is_before:
                message = f"`{note.text[:_SHOWN_CHARACTERS]}` stays as it stands; a shell would "
                message += "put a variable in its place"
                remedy = "write the value out, or make it a default: `{name}`"
                yield self._finding(Severity.WARNING, note, "shell-variable", message, remedy)

    def other_commands(self) -> Iterator[Finding]:
        """Commands beside the engine's: settings of a shell are a warning, all else an error."""
        own = self.subject.read.template[0].offset
        for command in self.subject.read.script.commands:
            first = command[0]
            if any(word.offset == own for word in command):
                continue
            is_setting = first.offset < own and (
                first.text in _HARMLESS_BEFORE or "=" in first.text
            )
            name = first.text[:_SHOWN_CHARACTERS]
            yield Finding(
                Severity.WARNING if is_setting else Severity.ERROR,
                "other-command",
                self._place(first.offset),
                f"`{name}` is not run: only the command that starts the engine counts",
                "set variables in `env`" if is_setting else "remove it",
            )

    def before_the_engine(self) -> Iterator[Finding]:
        """Assignments each, and the first of the programs that would start the engine."""
        words = self.subject.read.before
        for word in words:
            if ASSIGNMENT.fullmatch(word.text):
                name = word.text.partition("=")[0][:_SHOWN_CHARACTERS]
                what = f"the assignment of `{name}` before the engine is not made"
                yield self._before(word, what, f"set `{name}` in `env`")
        programs = [word for word in words if not ASSIGNMENT.fullmatch(word.text)]
        for word in programs[:1]:
            what = f"`{word.text[:_SHOWN_CHARACTERS]}` before the engine is not run"
            yield self._before(word, what, "begin the command with the engine")

    def _before(self, word: Word, what: str, remedy: str) -> Finding:
        message = f"{what}: only a shell would do that, and `recipe up` refuses it"
        place = self._place(word.offset)
        return Finding(Severity.WARNING, "before-engine", place, message, remedy)

    def control_characters(self) -> Iterator[Finding]:
        """Arguments that `recipe up` refuses; a log or a process list would show them wrongly."""
        for word, text in self._filled():
            if not text.isprintable():
                name = next(iter(placeholders(word.text)), None)
                what = f"`{{{name}}}` is filled with" if name else "an argument holds"
                message = f"{what} a line break or another character that cannot be seen"
                yield Finding(
                    Severity.ERROR,
                    "control-character",
                    self._value_place(word),
                    message,
                    "write it on one line",
                )

    def unquoted_values(self) -> Iterator[Finding]:
        """Values that a shell would split, change or drop, since no quotes stand round them."""
        for word, text in self._filled():
            if word.quoted:
                continue
            if text == word.text:
                yield from self._pattern(word)
            elif not text:
                yield self._dropped(word)
            elif _SHELL_CHARACTERS.intersection(text):
                yield self._unquoted(word, text)

    def _pattern(self, word: Word) -> Iterator[Finding]:
        """A word in which a shell would look for files, or which it would make several of."""
        if _PATTERN.search(word.text):
            message = (
                f"`{word.text[:_SHOWN_CHARACTERS]}` stays as it stands; a shell may put names "
            )
            message += "of files or other words in its place"
            place = self._place(word.offset)
            remedy = "write the value out, in single quotes"
            yield Finding(Severity.WARNING, "shell-pattern", place, message, remedy)

    def _dropped(self, word: Word) -> Finding:
        message = f"`{word.text[:_SHOWN_CHARACTERS]}` is filled with nothing, without quotes: a "
        message += "shell would drop the word; here it is an empty argument"
        remedy = "give it a value, remove it, or put it in single quotes if empty is meant"
        place = self._place(word.offset)
        return Finding(Severity.WARNING, "unquoted-value", place, message, remedy)

    def _unquoted(self, word: Word, text: str) -> Finding:
        shown = "" if self._is_secret(word) else f" `{text[:_SHOWN_CHARACTERS]}`"
        message = f"`{word.text[:_SHOWN_CHARACTERS]}` is filled with{shown or ' a value'} without "
        message += "quotes: a shell would split or change it"
        remedy = "put it in single quotes; several words must be written out in the command"
        place = self._place(word.offset)
        return Finding(Severity.WARNING, "unquoted-value", place, message, remedy)

    def _filled(self) -> Iterator[tuple[Word, str]]:
        """The words of the command, and what they come to; overrides may follow them."""
        command = self.subject.recipe.command
        filled = (*command.program, *command.arguments)
        return zip(self.subject.read.template, filled, strict=False)

    def _value_place(self, word: Word) -> Place:
        """That of the default which fills the word, if it is one placeholder and no more."""
        name = next(iter(placeholders(word.text)), "")
        defaults = self.subject.document.mapping("defaults")
        if word.text == f"{{{name}}}" and name in defaults:
            return self.subject.document.places.value(("defaults", name))
        return self._place(word.offset)

    def _is_secret(self, word: Word) -> bool:
        return any(is_secret(part) for part in word.text.strip("{}").replace("=", " ").split())

    def _place(self, offset: int) -> Place:
        return self.subject.document.places.inside(COMMAND, self.subject.read.text, offset)

    def _error(self, note: Note, code: str, message: str, remedy: str) -> Finding:
        return self._finding(Severity.ERROR, note, code, message, remedy)

    def _finding(
        self, severity: Severity, note: Note, code: str, message: str, remedy: str
    ) -> Finding:
        return Finding(severity, code, self._place(note.offset), message, remedy)
