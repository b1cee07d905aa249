"""Where the value of a flag is written: in the command, in a default, or in an override."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from proxy.errors import Place
from proxy.recipes.parsing.arguments import COMMAND, ReadCommand
from proxy.recipes.parsing.braces import placeholders
from proxy.recipes.parsing.overrides import place_of
from proxy.recipes.parsing.words import Word
from proxy.recipes.recipe import Flag
from proxy.yaml_places import KeyPath, Places


@dataclass(frozen=True, slots=True)
class Origin:
    """One value's place. `path`, `text` and `begin` say which characters of the file it is."""

    place: Place
    path: KeyPath = ()
    text: str = ""
    begin: int = 0

    def at(self, places: Places, offset: int) -> Place:
        """The place of one of its characters; of the value where that is not known."""
        if not self.path:
            return self.place
        return places.inside(self.path, self.text, self.begin + offset)


@dataclass(frozen=True, slots=True)
class Origins:
    """The origins of the values of a command's flags."""

    by_flag: Mapping[Flag, Origin]

    @classmethod
    def of(cls, read: ReadCommand, places: Places, overridden: frozenset[str]) -> Self:
        return cls(dict(_Finder(read, places, overridden).found()))

    def of_value(self, flag: Flag) -> Origin:
        """Of the flag itself where it has no value."""
        return self.by_flag.get(flag, Origin(flag.place))


@dataclass(frozen=True, slots=True)
class _Finder:
    read: ReadCommand
    places: Places
    overridden: frozenset[str]

    def found(self) -> Iterator[tuple[Flag, Origin]]:
        """Flags stand in the order of the words, whose places may all be the same."""
        command = self.read.command
        skipped = len(command.program)
        at = 0
        for flag in command.written:
            while at < len(command.words) and command.words[at].text != flag.spelling:
                at += 1
            index = at + (not self._is_joined(flag))
            if flag.values and skipped + index < len(self.read.template):
                yield flag, self._origin(self.read.template[skipped + index], flag.values[-1])
            at += 1

    def _is_joined(self, flag: Flag) -> bool:
        """Whether the value stands in the same word, as in `--port=8000` and `-O3`."""
        return "=" in flag.spelling or flag.spelling.startswith("-O")

    def _origin(self, word: Word, value: str) -> Origin:
        template = word.text.rpartition("=")[2]
        name = next(iter(placeholders(template)), "")
        if template != f"{{{name}}}" or name not in self.read.values:
            return self._in_command(word, value)
        if name in self.overridden:
            return Origin(place_of(name))
        path = ("defaults", name)
        return Origin(self.places.value(path), path, self.read.values[name])

    def _in_command(self, word: Word, value: str) -> Origin:
        text = self.read.text
        place = self.places.inside(COMMAND, text, word.offset)
        begin = text.find(value, word.offset, word.offset + len(word.text) + 2)
        return Origin(place) if begin < 0 else Origin(place, COMMAND, text, begin)
