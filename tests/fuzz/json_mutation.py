"""Changes JSON inside fuzzing data as a tree, where changes of bytes would mostly break it."""

import json
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

PREFIX = b"data: "
ATOMS: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 1.0, 1e400, 10**30, 0.1, "", "a", "b", "\ud83d", "é", [], {}),
    *([[]], [1], {"a": 1}, {"index": 1}, {"type": "text", "text": "x"}, {"function": {}}, "stop"),
)
Place = tuple[Any, Any]


def mutate_json(data: bytes, words: tuple[str, ...], luck: Random) -> bytes | None:
    """The data with one line's JSON changed, or None when no line holds any."""
    lines = data.split(b"\n")
    candidates = [at for at, line in enumerate(lines) if _read(line) is not None]
    if not candidates:
        return None
    at = luck.choice(candidates)
    root = [_read(lines[at])]
    try:
        for _ in range(luck.randint(1, 3)):
            _change(root, words, luck)
        text = json.dumps(root[0], ensure_ascii=luck.random() < 0.5)
    except RecursionError:
        return None
    head = PREFIX if lines[at].startswith(PREFIX) else b""
    lines[at] = head + text.encode("utf-8", "replace")
    return b"\n".join(lines)


def _read(line: bytes) -> Any:
    try:
        return json.loads(line.removeprefix(PREFIX))
    except (ValueError, RecursionError):
        return None


def _change(root: list[Any], words: tuple[str, ...], luck: Random) -> None:
    places = list(_places(root))
    container, key = luck.choice(places)
    other, other_key = luck.choice(places)
    value, atom = deepcopy(other[other_key]), deepcopy(luck.choice(ATOMS))
    match luck.randrange(5):
        case 0:
            container[key] = atom
        case 1:
            container[key] = value
        case 2 if container is not root:
            del container[key]
        case 3 if isinstance(container[key], dict):
            container[key][luck.choice(words)] = luck.choice([value, atom])
        case 4 if isinstance(container[key], list):
            container[key].insert(luck.randint(0, len(container[key])), value)
        case _:
            container[key] = luck.choice([{luck.choice(words): value}, [value], luck.choice(words)])


def _places(container: Any) -> Iterator[Place]:
    keys = list(container) if isinstance(container, dict) else range(len(container))
    for key in keys:
        yield container, key
        if isinstance(container[key], (dict, list)):
            yield from _places(container[key])
