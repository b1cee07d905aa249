"""Where settings come from: a file, then SLUICEGATE_* variables, then flags; later ones win.

Knows how to find, name and merge them, and keeps the place of each; what they mean is not its
concern.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from proxy.contract.known_words import ANY, did_you_mean
from proxy.contract.model_problems import fields_at, has_member, is_free_mapping
from proxy.errors import Place, Problem
from proxy.ledger.address import anchored
from proxy.yaml_places import Entry, KeyPath, Places, parse_yaml, read_yaml

PREFIX: Final = "SLUICEGATE_"
DEFAULT_FILE: Final = "sluicegate.yaml"

# Kubernetes writes these for a service whose name begins with `sluicegate`; they are not ours.
_SERVICE_LINK: Final = re.compile(
    r"SLUICEGATE_(\w+_)?(SERVICE_(HOST|PORT)(_\w+)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_\w+)?)"
)
_SERVICE_ADDRESS: Final = re.compile(r"(tcp|udp|sctp)://")


@dataclass(frozen=True, slots=True)
class Shape:
    """What the layers must know of the settings: their keys, and which of them are special."""

    model: type[BaseModel]
    unavailable: Collection[KeyPath]
    files: Collection[KeyPath]
    secrets: Collection[KeyPath]
    file_urls: Collection[KeyPath] = ()


@dataclass(slots=True)
class Layers:
    """Settings merged so far: data, the place of each value, and the problems met."""

    shape: Shape
    base: Path
    root: Place
    data: Any = field(default_factory=dict)
    entries: dict[KeyPath, Entry] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    file_was_read: bool = True

    @property
    def places(self) -> Places:
        return Places(self.root, self.entries)

    def read_file(self, path: Path) -> None:
        """Take a settings file; its relative paths start from its folder."""
        document = read_yaml(path)
        self.base = path.absolute().parent
        self.root = document.places.root
        self.problems.extend(document.problems)
        self.entries.update(document.places.entries)
        self.file_was_read = document.data is not None or not document.problems
        self.data = self._anchored(document.data, (), self.base) if self.file_was_read else {}

    def read_environment(self, environ: Mapping[str, str], flags: Mapping[str, object]) -> None:
        """Take SLUICEGATE_* variables; double underscores nest, an empty one counts as not set.

        `flags` only tell which further variables hold secrets instead of settings.
        """
        secrets = self._secret_names(environ, flags)
        for name, text in sorted(environ.items()):
            if (
                not name.startswith(PREFIX)
                or name in secrets
                or not text
                or _is_foreign(name, text)
            ):
                continue
            place = Place(f"environment {name}")
            path = self._path_of(name)
            if not self._is_known(path):
                remedy = did_you_mean(name, self._variables())
                self.problems.append(Problem(place, "unknown variable", remedy))
                continue
            self._assign_text(path, text, place)

    def read_flags(self, flags: Mapping[str, object], names: Mapping[str, str]) -> None:
        """Take flags by their dotted names; text is read as in a variable, None is not given.

        `names` says how a flag is spelled on the command line where that is not `--dotted.name`.
        """
        for dotted, value in flags.items():
            if value is None:
                continue
            place = Place(f"flag {names.get(dotted, f'--{dotted}')}")
            path = tuple(dotted.split("."))
            if self._is_known(path):
                self._assign_flag(path, value, place)
            else:
                known = [".".join(leaf) for leaf in self._leaves()]
                remedy = did_you_mean(dotted, known)
                self.problems.append(Problem(place, f"unknown setting `{dotted}`", remedy))

    def _assign_flag(self, path: KeyPath, value: object, place: Place) -> None:
        if isinstance(value, str):
            self._assign_text(path, value, place)
        else:
            self._assign(path, str(value) if isinstance(value, Path) else value, place)

    def _assign_text(self, path: KeyPath, text: str, place: Place) -> None:
        """Text is YAML, so that numbers, truths and lists are what they look like."""
        if not text.strip():
            self._assign(path, None, place)
            return
        document = parse_yaml(text.encode("utf-8", "surrogateescape"), place.file)
        for problem in document.problems:
            self.problems.append(Problem(place, problem.message, problem.remedy))
        if not document.problems:
            self._assign(path, document.data, place)

    def _assign(self, path: KeyPath, value: Any, place: Place) -> None:
        """Put one value into the data; where a list or text stands in the way, that is reported.

        Mappings are merged, save those whose members are anybody's: they are one value.
        """
        if isinstance(value, dict) and not is_free_mapping(self.shape.model, path):
            for name, member in value.items():
                self._assign((*path, name), member, place)
            if value or isinstance(_value_at(self.data, path), dict):
                return
        target = self.data
        for depth, step in enumerate(path[:-1], start=1):
            if not isinstance(target, dict):
                return
            if target.get(step) is None:
                target[step] = {}
            target = target[step]
            self.entries.setdefault(path[:depth], Entry(place, place))
        if not isinstance(target, dict):
            return
        target[path[-1]] = self._anchored(value, path, Path.cwd())
        for known in [known for known in self.entries if known[: len(path)] == path]:
            del self.entries[known]
        self.entries[path] = Entry(place, place)

    def _anchored(self, value: Any, path: KeyPath, base: Path) -> Any:
        """Relative file names become absolute, because each layer has a folder of its own."""
        if isinstance(value, dict):
            return {
                name: self._anchored(member, (*path, name), base) for name, member in value.items()
            }
        if isinstance(value, str) and _matches_any(path, self.shape.files):
            return str(base / value)
        if isinstance(value, str) and _matches_any(path, self.shape.file_urls):
            return anchored(value, base)
        return value

    def _secret_names(self, environ: Mapping[str, str], flags: Mapping[str, object]) -> set[object]:
        names: set[object] = set(_values_at(self.data, self.shape.secrets, ()))
        for dotted, value in flags.items():
            if _matches_any(tuple(dotted.split(".")), self.shape.secrets):
                names.add(value)
        for name, value in environ.items():
            if name.startswith(PREFIX) and _matches_any(self._path_of(name), self.shape.secrets):
                names.add(value)
        return names

    def _path_of(self, name: str) -> KeyPath:
        """The path a variable names. Variables know no `-`, names in the file may have it."""
        path: tuple[str, ...] = ()
        target = self.data
        for step in name.removeprefix(PREFIX).lower().split("__"):
            present = target if isinstance(target, dict) else {}
            spelled = next((key for key in present if key.replace("-", "_") == step), step)
            path = (*path, spelled)
            target = present.get(spelled)
        return path

    def _is_known(self, path: KeyPath) -> bool:
        planned = any(_matches(path[: len(pattern)], pattern) for pattern in self.shape.unavailable)
        return planned or has_member(self.shape.model, path)

    def _variables(self) -> list[str]:
        return [
            PREFIX + "__".join(step.replace("-", "_").upper() for step in leaf)
            for leaf in self._leaves()
        ]

    def _leaves(self) -> Iterator[tuple[str, ...]]:
        lanes = self.data.get("lanes") if isinstance(self.data, dict) else None
        names = ["main", *lanes] if isinstance(lanes, dict) else ["main"]
        for section in sorted(fields_at(self.shape.model, ())):
            members = sorted(fields_at(self.shape.model, (section,)))
            if section == "lanes":
                for name in dict.fromkeys(names):
                    for member in sorted(fields_at(self.shape.model, (section, name))):
                        yield section, name, member
            elif members:
                yield from ((section, member) for member in members)
            else:
                yield (section,)


def _is_foreign(name: str, text: str) -> bool:
    is_address = name.endswith("_PORT") and _SERVICE_ADDRESS.match(text)
    return bool(is_address or _SERVICE_LINK.fullmatch(name))


def _value_at(data: Any, path: KeyPath) -> Any:
    for step in path:
        data = data.get(step) if isinstance(data, dict) else None
    return data


def _values_at(data: Any, patterns: Collection[KeyPath], path: KeyPath) -> Iterator[str]:
    if isinstance(data, dict):
        for name, value in data.items():
            yield from _values_at(value, patterns, (*path, name))
    elif isinstance(data, str) and _matches_any(path, patterns):
        yield data


def _matches_any(path: KeyPath, patterns: Collection[KeyPath]) -> bool:
    return any(_matches(path, pattern) for pattern in patterns)


def _matches(path: KeyPath, pattern: KeyPath) -> bool:
    return len(path) == len(pattern) and all(
        wanted in (ANY, step) for step, wanted in zip(path, pattern, strict=True)
    )
