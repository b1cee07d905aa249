"""Words that a configuration file may not hold: misspelt ones, and ones whose time has not come."""

from collections.abc import Iterable
from typing import Any, Final

from proxy import nearest
from proxy.errors import Problem
from proxy.yaml_places import KeyPath, Places

NOT_AVAILABLE: Final = "not available in this version"
ANY: Final = "*"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A remedy for an unknown word: the likeliest known one, else all of them."""
    words = sorted(known)
    otherwise = "known: " + ", ".join(words) if words else "remove it"
    # The words of a policy are few, so that the likeliest may be less like.
    return nearest.did_you_mean(word, words, otherwise, cutoff=0.6)


def without_unavailable(
    data: Any, patterns: Iterable[KeyPath], places: Places
) -> tuple[Any, list[Problem]]:
    """Take keys that are planned but not built yet out of the data, with a problem for each.

    In a pattern `*` stands for any key. The rest of the data can then be validated as usual.
    """
    problems: list[Problem] = []
    for pattern in patterns:
        data = _without(data, pattern, (), places, problems)
    return data, problems


def _without(
    data: Any, pattern: KeyPath, path: KeyPath, places: Places, problems: list[Problem]
) -> Any:
    if not isinstance(data, dict):
        return data
    first, rest = pattern[0], pattern[1:]
    kept: dict[Any, Any] = {}
    for name, value in data.items():
        here = (*path, name)
        if first not in (ANY, name):
            kept[name] = value
        elif rest:
            kept[name] = _without(value, rest, here, places, problems)
        else:
            message = f"`{'.'.join(map(str, here))}` is {NOT_AVAILABLE}"
            problems.append(Problem(places.key(here), message, "remove it"))
    return kept
