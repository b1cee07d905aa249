"""A recipe's command as a shell would split it, without a shell.

Quotes, backslashes and continued lines count as POSIX has them (Shell Command Language, 2.2 and
2.3). What a shell would do beyond splitting is noted and never done: a variable stays `$NAME`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_SEPARATORS: Final = ";&|()"
_REDIRECTIONS: Final = "<>"
_CONTINUED: Final = re.compile(r"\\\r?\n")
_BLANKS: Final = " \t\r"
_ESCAPED_IN_DOUBLE_QUOTES: Final = '"\\$`\n'


class Oddity(StrEnum):
    """What in a command is more than words, or less than it was meant to be."""

    SEPARATOR = "separator"
    REDIRECTION = "redirection"
    SUBSTITUTION = "substitution"
    VARIABLE = "variable"
    SHELL_QUOTE = "shell_quote"
    COMMENT = "comment"
    OPEN_QUOTE = "open_quote"
    BLANK_AFTER_BACKSLASH = "blank_after_backslash"
    MISSING_CONTINUATION = "missing_continuation"


@dataclass(frozen=True, slots=True)
class Note:
    """An oddity and where it stands in the text, counted in characters from 0."""

    oddity: Oddity
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class Word:
    """One word without its quotes. `quoted`: some part of it stood in quotes or was escaped."""

    text: str
    offset: int
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """The simple commands of a text, each at least one word, and what was noted on the way."""

    commands: tuple[tuple[Word, ...], ...]
    notes: tuple[Note, ...]


def split_script(text: str) -> Script:
    """Split a text. A line that is not continued is joined to a next one that begins with `-`.

    That one is noted: no command begins so, and the backslash was lost.
    """
    splitter = _Splitter(text)
    commands = tuple(splitter.commands())
    return Script(commands, tuple(splitter.notes))


class _Splitter:
    """Walks through a text once."""

    def __init__(self, text: str) -> None:
        self.notes: list[Note] = []
        self._text = text
        self._at = 0

    def commands(self) -> Iterator[tuple[Word, ...]]:
        words: list[Word] = []
        while self._at < len(self._text):
            if self._skips_blank() or self._skips_continuation() or self._skips_operator():
                continue
            if not self._is_end():
                words.append(self._word())
            elif self._ends_command(begun=bool(words)):
                yield tuple(words)
                words = []
        if words:
            yield tuple(words)

    def _is_end(self) -> bool:
        return self._text[self._at] in "\n" + _SEPARATORS

    def _ends_command(self, *, begun: bool) -> bool:
        """Step over a separator or the end of a line; whether a command has come to its end."""
        if self._text[self._at] != "\n":
            self._operator(Oddity.SEPARATOR, _SEPARATORS)
            return begun
        rest = self._text[self._at :].lstrip(_BLANKS + "\n")
        is_cut_off = begun and rest.startswith("-")
        if is_cut_off:
            self._note(Oddity.MISSING_CONTINUATION, self._line())
        self._at = len(self._text) - len(rest)
        return begun and not is_cut_off

    def _skips_blank(self) -> bool:
        """Blanks and comments."""
        character = self._text[self._at]
        if character == "#":
            end = self._text.find("\n", self._at)
            end = len(self._text) if end < 0 else end
            self._note(Oddity.COMMENT, self._text[self._at : end])
            self._at = end
        elif character in _BLANKS:
            self._at += 1
        return character == "#" or character in _BLANKS

    def _skips_operator(self) -> bool:
        if self._text[self._at] not in _REDIRECTIONS:
            return False
        self._operator(Oddity.REDIRECTION, _REDIRECTIONS + "&")
        return True

    def _word(self) -> Word:
        begin, quoted = self._at, False
        parts: list[str] = []
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in _BLANKS or character in "\n" + _SEPARATORS + _REDIRECTIONS:
                break
            if continued := _CONTINUED.match(self._text, self._at):
                # The shell removes it and reads on: what follows is the same word.
                self._at = continued.end()
                continue
            if self._skips_continuation():
                break
            quoted = quoted or character in "'\"\\"
            parts.append(self._part(character))
        return Word("".join(parts), begin, quoted)

    def _part(self, character: str) -> str:
        if character == "'":
            return self._single_quoted()
        if character == '"':
            return self._double_quoted()
        if character == "\\":
            self._at += 2
            return self._text[self._at - 1 : self._at]
        self._expansion(character)
        if self._text[self._at : self._at + 2] in {"$'", '$"'}:
            self._note(Oddity.SHELL_QUOTE, self._text[self._at : self._at + 2])
        self._at += 1
        return character

    def _single_quoted(self) -> str:
        begin = self._at
        end = self._text.find("'", begin + 1)
        if end < 0:
            self._note(Oddity.OPEN_QUOTE, "'")
            end = len(self._text)
        self._at = end + 1
        return self._text[begin + 1 : end]

    def _double_quoted(self) -> str:
        begin = self._at
        parts: list[str] = []
        self._at += 1
        while self._at < len(self._text):
            character = self._text[self._at]
            following = self._text[self._at + 1 : self._at + 2]
            if character == '"':
                self._at += 1
                return "".join(parts)
            if character == "\\" and following and following in _ESCAPED_IN_DOUBLE_QUOTES:
                parts.append(following.replace("\n", ""))
                self._at += 2
                continue
            self._expansion(character)
            parts.append(character)
            self._at += 1
        self.notes.append(Note(Oddity.OPEN_QUOTE, begin, '"'))
        return "".join(parts)

    def _expansion(self, character: str) -> None:
        """Note what a shell would put in the place of this character and what follows."""
        following = self._text[self._at + 1 : self._at + 2]
        if character == "`" or (character == "$" and following == "("):
            self._note(Oddity.SUBSTITUTION, "`" if character == "`" else "$(")
        elif character == "$" and (following.isalnum() or following in set("_{?*@#$!")):
            self._note(Oddity.VARIABLE, _variable(self._text, self._at))

    def _skips_continuation(self) -> bool:
        """A backslash before the end of its line, blanks between them included."""
        if self._text[self._at] != "\\":
            return False
        rest = self._at + 1
        while rest < len(self._text) and self._text[rest] in _BLANKS:
            rest += 1
        if rest < len(self._text) and self._text[rest] != "\n":
            return False
        if rest < len(self._text) and self._text[self._at + 1 : rest].strip("\r"):
            self.notes.append(Note(Oddity.BLANK_AFTER_BACKSLASH, self._at + 1, " "))
        self._at = rest + 1
        return True

    def _operator(self, oddity: Oddity, characters: str) -> None:
        begin = self._at
        while self._at < len(self._text) and self._text[self._at] in characters:
            self._at += 1
        self.notes.append(Note(oddity, begin, self._text[begin : self._at]))

    def _line(self) -> str:
        return self._text[self._text.rfind("\n", 0, self._at) + 1 : self._at].strip()

    def _note(self, oddity: Oddity, text: str) -> None:
        self.notes.append(Note(oddity, self._at, text))


def _variable(text: str, at: int) -> str:
    """`$NAME` or `${…}` as it stands, cut where it would be long."""
    if text[at + 1] == "{":
        end = text.find("}", at)
        return text[at : min(end + 1, at + 60)] if end > 0 else text[at : at + 2]
    end = at + 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return text[at : max(end, at + 2)]
