"""YAML files as plain data, with the place of every key and value. The home of PyYAML.

A configuration file is read more strictly than YAML asks: duplicate keys, aliases, foreign tags,
keys that are not text and several documents are problems, because each of them either hides a
mistake or lets a small file grow without bound. Nothing here raises for a bad file: the document
carries its problems, so that a caller can report them together with its own.
"""

import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import yaml

from proxy.errors import Place, Problem

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32

KeyPath: TypeAlias = tuple[str | int, ...]

_TAG = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset(_TAG + name for name in ("str", "int", "float", "bool", "null"))
# YAML 1.1 takes a bare date for a timestamp and a bare `=` for a default; both stay text here.
_TEXT_TAGS = frozenset(_TAG + name for name in ("timestamp", "value"))
_MERGE_TAG = _TAG + "merge"
_NOT_PRINTABLE = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What ends a line in YAML 1.1.
_LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a key and its value stand; for a list item both are the item.

    `lines` are the beginnings of a text's lines, where its characters stand in the file as they
    are: in a `|` block, or on one line without escapes.
    """

    key: Place
    value: Place
    lines: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Places:
    """The places of a document by path. A path that is not there has its nearest ancestor's."""

    root: Place
    entries: Mapping[KeyPath, Entry] = field(default_factory=dict)

    def key(self, path: KeyPath) -> Place:
        found = self._nearest(path)
        return found.key if found else self.root

    def value(self, path: KeyPath) -> Place:
        found = self._nearest(path)
        return found.value if found else self.root

    def inside(self, path: KeyPath, text: str, offset: int) -> Place:
        """The place of one character of the text at `path`; of the text where none is known."""
        found = self.entries.get(path)
        line = text.count("\n", 0, offset)
        if found is None or line >= len(found.lines):
            return self.value(path)
        begin = found.lines[line]
        column = min(offset, len(text)) - (text.rfind("\n", 0, offset) + 1)
        return Place(begin.file, begin.line, begin.column + column)

    def _nearest(self, path: KeyPath) -> Entry | None:
        for length in range(len(path), 0, -1):
            if entry := self.entries.get(path[:length]):
                return entry
        return None


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """One YAML file: its bytes, its data (None when it cannot be read), places and problems.

    `repeated` are keys that are written twice, where the last one was asked to count.
    """

    source: bytes
    data: Any
    places: Places
    problems: tuple[Problem, ...] = ()
    repeated: tuple[Problem, ...] = ()


def read_yaml(path: Path, *, last_counts: bool = False) -> YamlDocument:
    """Read one file of at most 1 MiB; a file that cannot be read is a document with a problem.

    `last_counts`: of a key that is written twice the last one counts, as in most YAML readers, and
    it is no problem of the document.
    """
    try:
        if not _is_file_or_folder(path.stat().st_mode):
            return _unreadable(path, "this is no plain file", "copy what it holds into a file")
        with path.open("rb") as file:
            source = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return _unreadable(path, "there is no such file", "check the path")
    except IsADirectoryError:
        return _unreadable(path, "this is a folder, not a file", "name a file in it")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return _unreadable(path, f"the file cannot be read: {reason}", "check path and permissions")
    return parse_yaml(source, str(path), last_counts=last_counts)


def parse_yaml(source: bytes, file: str, *, last_counts: bool = False) -> YamlDocument:
    """Read one document from bytes; `file` names it in places."""
    try:
        text = _text_of(source, file)
        _check_events(text, file)
        loader = yaml.CSafeLoader(text)
        try:
            builder = _Builder(loader, file, _LINE_END.split(text), last_counts=last_counts)
            root = loader.get_single_node()
            data = None if root is None else builder.build(root, ())
        finally:
            loader.dispose()
    except _Unreadable as error:
        return YamlDocument(source, None, Places(Place(file)), (error.problem,))
    except yaml.MarkedYAMLError as error:
        problem = _syntax_problem(error, text, file)
        return YamlDocument(source, None, Places(Place(file)), (problem,))
    places = Places(Place(file, 1, 1), builder.entries)
    return YamlDocument(source, data, places, tuple(builder.problems), tuple(builder.repeated))


def _is_file_or_folder(mode: int) -> bool:
    """To open a pipe waits for its other end, and a device may never end."""
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


class _Unreadable(Exception):
    def __init__(self, place: Place, message: str, remedy: str) -> None:
        super().__init__(message)
        self.problem = Problem(place, message, remedy)


def _unreadable(path: Path, message: str, remedy: str) -> YamlDocument:
    place = Place(str(path))
    return YamlDocument(b"", None, Places(place), (Problem(place, message, remedy),))


def _text_of(source: bytes, file: str) -> str:
    if len(source) > MAX_BYTES:
        raise _Unreadable(
            Place(file), "the file is larger than 1 MiB", "a configuration file is small; split it"
        )
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _place_at(source[: error.start].decode("utf-8", "replace"), file)
        raise _Unreadable(place, "the file is not UTF-8", "save it as UTF-8") from None
    if found := _NOT_PRINTABLE.search(text):
        place = _place_at(text[: found.start()], file)
        message = f"the character U+{ord(found[0]):04X} is not allowed"
        raise _Unreadable(place, message, 'remove it, or write an escape in "..."')
    return text


def _place_at(before: str, file: str) -> Place:
    lines = _LINE_END.split(before)
    return Place(file, len(lines), len(lines[-1]) + 1)


def _check_events(text: str, file: str) -> None:
    """Refuse what could grow or nest without bound, before any tree is built."""
    depth = documents = nodes = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise _Unreadable(
                _mark_place(file, event.start_mark),
                f"the alias `*{event.anchor}` is not allowed",
                "write the value out",
            )
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise _Unreadable(
                    _mark_place(file, event.start_mark),
                    "the file holds more than one document",
                    "remove `---` and what follows it",
                )
        nodes += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            place = _mark_place(file, event.start_mark)
            message = f"nested more than {MAX_DEPTH} deep"
            raise _Unreadable(place, message, "no configuration needs that; check the brackets")
    if not nodes:
        place = Place(file, 1, 1)
        raise _Unreadable(place, "the file is empty", "write keys and values, such as `key: value`")


class _Mark(Protocol):
    """Position in a text, from 0; the C and the Python reader of PyYAML have a class each."""

    line: int
    column: int


def _mark_place(file: str, mark: _Mark | None) -> Place:
    return Place(file) if mark is None else Place(file, mark.line + 1, mark.column + 1)


def _place(file: str, node: yaml.Node) -> Place:
    return _mark_place(file, node.start_mark)


def _syntax_problem(error: yaml.MarkedYAMLError, text: str, file: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    place = _mark_place(file, mark)
    character = "" if mark is None else _character_at(text, mark)
    if character == "\t":
        return Problem(place, "a tab is used for indentation", "indent with spaces")
    if "cannot start any token" in str(error.problem):
        message = f"a value cannot begin with `{character}`"
        return Problem(place, message, "write the value in quotes")
    message = f"not YAML: {error.problem}" + (f" {error.context}" if error.context else "")
    return Problem(place, message, _syntax_remedy(error, file))


def _syntax_remedy(error: yaml.MarkedYAMLError, file: str) -> str:
    if "mapping values are not allowed" in str(error.problem):
        return "write a value that contains `: ` in quotes, and check the indentation"
    begin = error.context_mark
    if begin is not None and begin.line != (error.problem_mark or begin).line:
        return f"check indentation, brackets and quotes from {_mark_place(file, begin)} on"
    return "check indentation, brackets and quotes"


def _character_at(text: str, mark: _Mark) -> str:
    lines = _LINE_END.split(text)
    line = lines[mark.line] if mark.line < len(lines) else ""
    return line[mark.column : mark.column + 1]


class _Builder:
    """Turns nodes into data, noting places and problems on the way."""

    def __init__(
        self, loader: yaml.CSafeLoader, file: str, lines: list[str], *, last_counts: bool
    ) -> None:
        self.entries: dict[KeyPath, Entry] = {}
        self.problems: list[Problem] = []
        self.repeated: list[Problem] = []
        self._last_counts = last_counts
        self._loader = loader
        self._file = file
        self._lines = lines

    def build(self, node: yaml.Node, path: KeyPath) -> Any:
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return dict(self._members(node, path))
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            return self._items(node, path)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        self._refuse_tag(node)
        return None

    def _items(self, node: yaml.SequenceNode, path: KeyPath) -> list[Any]:
        values = []
        for index, child in enumerate(node.value):
            place = _place(self._file, child)
            self.entries[*path, index] = Entry(place, place, self._text_lines(child))
            values.append(self.build(child, (*path, index)))
        return values

    def _members(self, node: yaml.MappingNode, path: KeyPath) -> Iterator[tuple[str, Any]]:
        seen: set[str] = set()
        for key_node, value_node in node.value:
            name = self._key(key_node)
            if name is None:
                continue
            place = _place(self._file, key_node)
            if name in seen:
                first = self.entries[*path, name].key
                message = f"the key `{name}` is written twice, first in line {first.line}"
                noted = self.repeated if self._last_counts else self.problems
                noted.append(Problem(place, message, "remove one of the two"))
                if not self._last_counts:
                    continue
            seen.add(name)
            value_place = _place(self._file, value_node)
            self.entries[*path, name] = Entry(place, value_place, self._text_lines(value_node))
            yield name, self.build(value_node, (*path, name))

    def _key(self, node: yaml.Node) -> str | None:
        place = _place(self._file, node)
        if not isinstance(node, yaml.ScalarNode):
            self.problems.append(Problem(place, "a key must be text", "write a plain name"))
        elif node.tag == _MERGE_TAG:
            message = "the merge key `<<` is not allowed"
            self.problems.append(Problem(place, message, "write the keys out"))
        elif node.tag == _TAG + "str" or node.tag in _TEXT_TAGS:
            return str(node.value)
        else:
            message = f"the key `{node.value}` is not text in YAML"
            self.problems.append(Problem(place, message, f'write it in quotes: "{node.value}"'))
        return None

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        if node.tag in _TEXT_TAGS or node.tag == _MERGE_TAG:
            return str(node.value)
        if node.tag not in _SCALAR_TAGS:
            self._refuse_tag(node)
            return None
        try:
            found = self._loader.construct_object(node)
            # Python refuses to write a number with very many digits, which it reads in hexadecimal.
            str(found)
        except (ValueError, KeyError, IndexError, OverflowError):
            kind = node.tag.removeprefix(_TAG)
            message = f"`{node.value[:40]}` cannot be read as {kind}"
            place = _place(self._file, node)
            self.problems.append(Problem(place, message, "write text in quotes"))
            return None
        return found

    def _text_lines(self, node: yaml.Node) -> tuple[Place, ...]:
        if not isinstance(node, yaml.ScalarNode) or node.start_mark is None:
            return ()
        line, column = node.start_mark.line, node.start_mark.column
        if node.style == "|":
            return self._block_lines(node.value, line + 1)
        quote = len(node.style or "")
        begin = column + quote
        if self._lines[line][begin : begin + len(node.value)] != node.value:
            return ()
        return (Place(self._file, line + 1, begin + 1),)

    def _block_lines(self, text: str, first: int) -> tuple[Place, ...]:
        """What stands before the text in its first line that is not empty is the indentation."""
        lines = text.split("\n")
        filled = next((number for number, line in enumerate(lines) if line), None)
        if filled is None or first + filled >= len(self._lines):
            return ()
        indentation = len(self._lines[first + filled]) - len(lines[filled])
        return tuple(
            Place(self._file, first + number + 1, indentation + 1) for number in range(len(lines))
        )

    def _refuse_tag(self, node: yaml.Node) -> None:
        tag = node.tag.replace(_TAG, "!!")
        place = _place(self._file, node)
        self.problems.append(Problem(place, f"the tag `{tag}` is not allowed", "remove the tag"))
