"""A small JSONPath: member names, indexes and `*`, as in `$.items[*].title`. No filters.

A subset of RFC 9535, so that a path means here what it means elsewhere.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Key: TypeAlias = str | int

_NAME: Final = re.compile(r"\.([^\W\d][\w-]*)|\.(\*)")
_BRACKET: Final = re.compile(
    r"""\[\s*(?:(\*)|(0|[1-9]\d{0,8})|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\]"""
)
_ESCAPE: Final = re.compile(r"\\(.)")
# The one way in which JSON may spell a letter otherwise.
_ESCAPED: Final = "\\u"
_PLAIN: Final = re.compile(r"[^\W\d][\w-]*")
_ANY: Final = None
_NAME_SHOWN: Final = 64


class InvalidPath(ValueError):
    """The message says what is wrong and where."""


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A path that was read; a step of None stands for every member or item."""

    steps: tuple[Key | None, ...]

    def find(self, document: Any) -> Iterator[tuple[tuple[Key, ...], Any]]:
        """Each value that is there, with the keys that lead to it."""
        found: list[tuple[tuple[Key, ...], Any]] = [((), document)]
        for step in self.steps:
            found = [
                ((*keys, key), value)
                for keys, parent in found
                for key, value in _members(parent, step)
            ]
        yield from found

    def may_be_in(self, text: str) -> bool:
        """False where a JSON text certainly has no such value, which is seen without reading it."""
        names = [step for step in self.steps if isinstance(step, str)]
        if _ESCAPED in text or not all(map(_PLAIN.fullmatch, names)):
            return True
        return all(f'"{name}"' in text for name in names)


def parse_path(text: str) -> JsonPath:
    """Read a path. Raises `InvalidPath`."""
    if not text.startswith("$"):
        raise InvalidPath("a path begins with `$`")
    steps: list[Key | None] = []
    at = 1
    while at < len(text):
        match = _NAME.match(text, at) or _BRACKET.match(text, at)
        if match is None:
            raise InvalidPath(f"character {at + 1}: {_objection(text, at)}")
        steps.append(_step(match))
        at = match.end()
    if not steps:
        raise InvalidPath("`$` is the whole document, which is no text")
    return JsonPath(tuple(steps))


def pointer(keys: tuple[Key, ...]) -> str:
    """The JSON pointer that leads to a value; a name that is no name but a text is cut short."""
    return "".join("/" + str(_short(key)).replace("~", "~0").replace("/", "~1") for key in keys)


def spelled(keys: tuple[Key, ...]) -> str:
    """The path that leads to this value alone."""
    return "$" + "".join(_spelled_key(_short(key)) for key in keys)


def _short(key: Key) -> Key:
    """With `*` names are the model's own: they may be of any length."""
    return f"{key[:_NAME_SHOWN]}…" if isinstance(key, str) and len(key) > _NAME_SHOWN else key


def _spelled_key(key: Key) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if _PLAIN.fullmatch(key) else f"[{key!r}]"


def _step(match: re.Match[str]) -> Key | None:
    if match.re is _NAME:
        return match[1]
    if match[1]:
        return _ANY
    if match[2]:
        return int(match[2])
    return _ESCAPE.sub(r"\1", match[3] if match[3] is not None else match[4])


def _objection(text: str, at: int) -> str:
    rest = text[at:]
    if rest.startswith(".."):
        return "there is no `..`, so name the members one by one"
    if rest.startswith(("[?", "[(")):
        return "there are no filters"
    if rest.startswith("[-"):
        return "there are no negative indexes"
    if rest.startswith("[") and "]" not in rest:
        return "the bracket is not closed"
    return "a member's name, an index or `*` is missing" if rest[0] in ".[" else "cannot be read"


def _members(parent: Any, step: Key | None) -> Iterator[tuple[Key, Any]]:
    if isinstance(parent, dict):
        if step is _ANY:
            yield from parent.items()
        elif isinstance(step, str) and step in parent:
            yield step, parent[step]
    elif isinstance(parent, list):
        if step is _ANY:
            yield from enumerate(parent)
        elif isinstance(step, int) and step < len(parent):
            yield step, parent[step]
